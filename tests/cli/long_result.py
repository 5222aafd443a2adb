# SPDX-License-Identifier: Apache-2.0
"""The result of a long run without the run: the histograms of a golden result with as many
samples as wanted, spread as latencies are (a log-normal body and a heavy tail)."""
import base64
import json
import math
import pathlib
import struct
import zlib

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


def varint(value):
    rest, out = (value << 1) ^ (value >> 63), bytearray()
    while rest > 0x7F and len(out) < 8:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes(out + bytes([rest]))


def lowest(index):
    """The lowest value of a bucket of HdrHistogram's, unit 1, 3 digits."""
    power = max(index // 1024 - 1, 0)
    return (index - power * 1024) << power


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def counts(samples, median_ns):
    """How many of the samples lie in each bucket, by the distribution's shares."""
    def below(ns):
        x = math.log(max(ns, 1) / median_ns)
        return 0.99 * normal(x / 0.25) + 0.01 * normal((x - 1) / 0.9)

    done = 0
    for index in range(1024, 40 * 1024):
        wanted = round(samples * below(lowest(index + 1)))
        yield index, wanted - done
        done = wanted
        if done >= samples:
            return


def histogram(samples, median_ns):
    """Encoded, with its smallest and largest value in us."""
    body, at, ends = b"", 0, []
    for index, count in counts(samples, median_ns):
        if count:
            gap = index - at
            body += (varint(-gap) if gap > 1 else varint(0) if gap else b"") + varint(count)
            at = index + 1
            ends.append(index)
    highest = (1 << lowest(ends[-1] + 1).bit_length()) - 1
    packed = zlib.compress(
        struct.pack(">IIIIQQd", 0x1C849313, len(body), 0, 3, 1, highest, 1.0) + body)
    text = base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()
    return text, {"min": lowest(ends[0]) / 1000, "max": (lowest(ends[-1] + 1) - 1) / 1000}


MEDIANS = {"tcp": 67000, "tls": 450000, "ttfb": 100000, "ttlb": 105000, "response": 640000,
           "start_lag": 5000}


def write(path, samples):
    """Every trial of every arm of the golden load result with this many samples."""
    result = json.loads((GOLDEN / "load.json").read_text(encoding="utf-8"))
    encoded = {name: histogram(samples, ns) for name, ns in MEDIANS.items()}
    for arm in result["arms"]:
        for trial in arm["trials"]:
            trial["tally"].update(scheduled=samples, completed=samples)
            trial["elapsed_s"], trial["started_s"] = 300.0, 340.0 * (trial["position"] - 1)
            trial["due_per_s"] = trial["achieved_per_s"] = samples / 300
            trial["histograms"] = {name: text for name, (text, _) in encoded.items()}
            ends = {name: end for name, (_, end) in encoded.items()}
            trial["start_lag_us"] = ends.pop("start_lag")
            trial["latency_us"] = ends
    path.write_text(json.dumps(result), encoding="utf-8")
