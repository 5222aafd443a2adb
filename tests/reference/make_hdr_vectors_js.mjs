/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vectors of MakeHdrVectors.java, by HdrHistogram for JavaScript (npm package
 * hdr-histogram-js, found from the current directory):
 *
 *   node make_hdr_vectors_js.mjs > hdr_vectors_js.txt
 *   node make_hdr_vectors_js.mjs read < encoded.txt
 *
 * Its headers differ from Java's: an index offset of 1 and a conversion ratio whose bits are
 * the integer 1.
 */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.cwd() + "/");
const hdr = require("hdr-histogram-js");
const PERCENTILES = [0.1, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100];

function make(digits, lowest = 1) {
  return hdr.build({
    bitBucketSize: 64, autoResize: true, lowestDiscernibleValue: lowest,
    highestTrackableValue: 2 * lowest, numberOfSignificantValueDigits: digits,
    useWebAssembly: false,
  });
}

function tell(h) {
  const buckets = [];
  for (let i = 0; i < h.countsArrayLength; i++) {
    const low = h.valueFromIndex(i);
    if (h.getCountAtIndex(i) > 0)
      buckets.push([low, h.highestEquivalentValue(low), h.getCountAtIndex(i)]);
  }
  if (h.totalCount === 0) {
    console.log("total 0");
  } else {
    /* Not h.maxValue: it is one unit too high where the lowest value is above 1. */
    console.log(`total ${h.totalCount} ${buckets[0][0]} ${buckets.at(-1)[1]} ${h.mean}`);
    for (const p of PERCENTILES)
      console.log(`percentile ${p} ${h.getValueAtPercentile(p)}`);
    for (const bucket of buckets)
      console.log(`bucket ${bucket.join(" ")}`);
  }
  console.log("end");
}

function show(name, h) {
  const text = hdr.encodeIntoCompressedBase64(h);
  console.log(`vector ${name} ${h.numberOfSignificantValueDigits} ${h.lowestDiscernibleValue}`);
  console.log(`encoded ${text}`);
  tell(hdr.decodeFromCompressedBase64(text, 64, false));
}

function spread(h, n) {
  let x = 12345;
  for (let i = 0; i < n; i++) {
    x = (x * 1103515245 + 12345) % 2147483648;
    h.recordValue(100000 + Math.floor((x / 2147483648) ** 4 * 50000000));
  }
  return h;
}

function write() {
  let h = make(3);
  show("js-empty", h);
  h.recordValue(682);
  show("js-one", h);
  h = make(3);
  for (let ms = 1; ms <= 8; ms++)
    h.recordValue(ms * 1000000);
  show("js-eight", h);
  h = make(3);
  h.recordValueWithCount(300000, 600000);
  h.recordValueWithCount(40000000, 400000);
  show("js-bimodal", h);
  show("js-spread", spread(make(3), 300));
  show("js-digits-2", spread(make(2), 100));
  show("js-digits-5", spread(make(5), 100));
  show("js-lowest-1000", spread(make(3, 1000), 100));
}

if (process.argv[2] === "read") {
  for (const line of readFileSync(0, "utf8").trim().split("\n")) {
    const [name, text] = line.split(" ");
    const h = hdr.decodeFromCompressedBase64(text, 64, false);
    console.log(`vector ${name} ${h.numberOfSignificantValueDigits} ${h.lowestDiscernibleValue}`);
    tell(h);
  }
} else {
  write();
}
