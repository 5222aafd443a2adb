# SPDX-License-Identifier: Apache-2.0
"""Is the page one file that asks nothing of anywhere, is what strangers wrote inert in it (G5),
and does a browser draw it without a complaint?"""
import base64
import csv
import hashlib
import html.parser
import io
import json
import re
import time

import pytest

import browser
import long_result
from conftest import ROOT, assert_usage_error, run, run_null, strict_json

GOLDEN = ROOT / "tests" / "golden"
NAMES = ["cpu", "cpu-interrupted", "cpu-failed", "cpu-hostile", "load", "load-few", "load-refused"]
VOID = {"meta", "link", "br", "img", "input", "hr", "base", "source"}
# Elements of the page; anything else would have come from a result.
KNOWN = set("""html head meta title style body script header h1 defs pattern h2 h3 p div main figure figcaption
    details summary table thead tbody tr th td button footer span i b svg path rect text""".split())


class Page(html.parser.HTMLParser):
    """Elements, attributes and data of a page; complains where elements do not nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.data, self.texts = [], set(), [], {}, []
        self.scripts, self.data_id = [], None
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.data_id = dict(attrs).get("id")

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            if self.data_id:
                self.data[self.data_id] = data
            else:
                self.scripts.append(data)
        else:
            self.texts.append(data)


def made(result, tmp_path, name="report.html"):
    path = tmp_path / name
    done = run("report", "-o", path, result)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    return path


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_well_formed_and_holds_no_element_of_a_stranger(name, tmp_path):
    page = Page(made(GOLDEN / f"{name}.json", tmp_path).read_text(encoding="utf-8"))
    assert page.tags <= KNOWN, page.tags - KNOWN
    names = {key for key, _ in page.attributes}
    assert not {key for key in names if key.startswith("on") or key in ("src", "href", "action")}
    ids = [value for key, value in page.attributes if key == "id"]
    assert len(ids) == len(set(ids))
    for text in page.data.values():
        sheet = strict_json(text)
        assert len(sheet["columns"]) == len(sheet["data"])
        assert len({len(column) for column in sheet["data"]}) == 1


def test_the_page_runs_its_own_script_and_nothing_else(tmp_path):
    text = made(GOLDEN / "load.json", tmp_path).read_text(encoding="utf-8")
    page = Page(text)
    policy = dict(part.strip().split(" ", 1) for part in
                  next(value for _, value in page.attributes if value and "default-src" in value)
                  .split(";"))
    assert policy["default-src"] == "'none'"
    assert len(page.scripts) == 1
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert not re.search(r"@import|url\((?!#hatch\))|<link|<base|<iframe", text)


def test_the_figures_of_the_page_are_those_of_the_result(tmp_path):
    page = Page(made(GOLDEN / "load.json", tmp_path).read_text(encoding="utf-8"))
    result = json.loads((GOLDEN / "load.json").read_text(encoding="utf-8"))
    sheet = strict_json(page.data["data-differences"])
    columns = {column["name"]: data for column, data in zip(sheet["columns"], sheet["data"])}
    for i, comparison in enumerate(result["comparisons"]):
        for key in ("arm", "metric", "difference", "low", "high", "noise_floor", "verdict"):
            assert columns[key][i] == comparison[key], (i, key)
    sheet = strict_json(page.data["data-latency-tls"])
    rows = list(csv.DictReader(io.StringIO(
        run("report", "--format", "csv", GOLDEN / "load.json").stdout, newline="")))
    at = sheet["data"][1].index(99)
    found = 0
    for column, data in zip(sheet["columns"], sheet["data"]):
        if "arm" not in column:
            continue
        arm = result["arms"][column["arm"]]["name"]
        want = next(float(row["value"]) for row in rows
                    if (row["arm"], row["trial"], row["metric"], row["statistic"])
                    == (arm, str(column.get("trial", "")), "latency_us.tls", "p99"))
        assert data[at] == pytest.approx(want, abs=1e-5)
        found += 1
    assert found == 12


def test_steal_is_shaded_and_each_cause_has_its_mark(tmp_path):
    result = json.loads((GOLDEN / "load.json").read_text(encoding="utf-8"))
    for i, steal in enumerate((0.0009, 0.002, 0.02)):
        result["arms"][1]["trials"][i]["steal"] = steal
    (tmp_path / "steal.json").write_text(json.dumps(result))
    text = made(tmp_path / "steal.json", tmp_path).read_text(encoding="utf-8")
    chart = text[text.index('id="arrivals"'):text.index('id="data-arrivals"')]
    shaded = re.findall(r'<rect class="steal (s\d)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart)
    assert [place[0] for place in shaded] == ["s1", "s2"]
    spans = re.findall(r'<rect class="span c1" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart)
    assert [place[1:] for place in shaded] == spans[1:]
    causes = {}
    for kind, title in re.findall(r'<path class="p k(\d) c[\dx]"[^>]*><title>([^<]*)</title>', chart):
        cause = re.search(r": ([a-z-]+); ", title).group(1)
        causes.setdefault(cause, set()).add(kind)
    assert {cause: len(kinds) for cause, kinds in causes.items()} == {
        "client-preempted": 1, "server-queue": 1, "unexplained": 1}
    assert len(set.union(*causes.values())) == 3


def test_html_and_hlog_name_format_and_file_in_one(tmp_path):
    result = GOLDEN / "load-few.json"
    assert run("report", "--html", tmp_path / "x", result).returncode == 0
    assert (tmp_path / "x").read_bytes() == made(result, tmp_path).read_bytes()
    assert run("report", "--hlog", tmp_path / "y", result).returncode == 0
    assert (tmp_path / "y").read_text() == run("report", "--format=hlog", result).stdout
    assert_usage_error(run("report", "--html", "x", "--hlog", "y", result), "--hlog")
    assert_usage_error(run("report", "--html", "x", "-o", "y", result), "--html", "--output")
    assert_usage_error(run("report", "--html", tmp_path / "x", result, result), "html")
    done = run("report", "--html", "/nonexistent/x", result)
    assert done.returncode == 1 and "--html: " in done.stderr


def test_a_run_writes_the_page_beside_its_result(tmp_path):
    done = run_null("-q", "-o", tmp_path / "r", "--html", tmp_path / "same.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r" / "report.html").read_bytes()
    assert page == (tmp_path / "same.html").read_bytes()
    assert page == made(tmp_path / "r", tmp_path).read_bytes()


def test_the_log_has_a_line_for_each_histogram_of_the_result():
    done = run("report", "--format", "hlog", GOLDEN / "load.json")
    result = json.loads((GOLDEN / "load.json").read_text(encoding="utf-8"))
    lines = [line.split(",") for line in done.stdout.splitlines() if line.startswith("Tag=")]
    assert all(len(line) == 5 for line in lines)
    tags = {line[0] for line in lines}
    want = {f"Tag={arm['name']}.{phase}.{trial['index']}" for arm in result["arms"]
            for trial in arm["trials"] for phase in trial["histograms"]}
    assert tags == want and len(lines) == len(want)
    run_again = run("report", "--format", "hlog", GOLDEN / "cpu-hostile.json")
    assert all(line[0] in "#\"" for line in run_again.stdout.splitlines())


# --- in a browser -------------------------------------------------------------------------

@pytest.fixture(scope="module")
def chromium():
    if not browser.program():
        pytest.skip("no Chromium here")
    one = browser.Browser()
    yield one
    one.close()


def opened(chromium, path, **more):
    seconds = chromium.open(path, **more)
    assert chromium.complaints() == []
    assert chromium.requests() == [path.resolve().as_uri()]
    return seconds


@pytest.mark.parametrize("name", NAMES)
def test_every_chart_is_drawn_without_a_complaint_or_a_request(name, chromium, tmp_path):
    path = made(GOLDEN / f"{name}.json", tmp_path)
    charts = path.read_text(encoding="utf-8").count("<figure")
    assert charts >= (0 if name == "load-refused" else 2)
    opened(chromium, path)
    data = chromium.value("Object.assign({}, document.documentElement.dataset)")
    assert data == {"errors": "0", "drawn": str(charts)}
    live = chromium.value("document.querySelectorAll('figure.live').length")
    if chromium.value("typeof uPlot") == "function":
        assert chromium.value("document.querySelectorAll('figure.live canvas').length") == live
    empty = chromium.value("""[...document.querySelectorAll('figure')].filter(f =>
        ![...f.querySelectorAll('.bar, .point, canvas, .still svg path')].some(e =>
            e.getBoundingClientRect().height > 0)).map(f => f.id)""")
    assert empty == []


def test_text_of_a_stranger_is_text(chromium, tmp_path):
    result = json.loads((GOLDEN / "load.json").read_text(encoding="utf-8"))
    evil = "</script><img src='https://x.invalid/leak' onerror=document.title='owned'>"
    text = json.dumps(result).replace('"pq"', json.dumps(evil))
    hostile = json.loads(text)
    hostile["arms"][1]["trials"][0]["slowest"][0]["cause"] = evil
    hostile["hosts"][0]["cpu_model"] = evil
    hostile["validity"]["problems"][0]["message"] = evil
    (tmp_path / "evil.json").write_text(json.dumps(hostile))
    opened(chromium, made(tmp_path / "evil.json", tmp_path))
    assert chromium.value("document.title").startswith("Fresh TLS handshakes")
    assert chromium.value("document.images.length") == 0
    assert chromium.value("document.body.textContent.includes('onerror=')")
    assert chromium.value("document.documentElement.dataset.errors") == "0"


def test_what_is_hovered_and_saved_are_the_figures(chromium, tmp_path):
    opened(chromium, made(GOLDEN / "cpu.json", tmp_path))
    chromium.value("""void (window.saved = new Promise((resolve) => {
        URL.createObjectURL = (blob) => { blob.text().then(resolve); return 'about:blank#'; };
        HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; }; }))""")
    chromium.value("document.querySelector('#cpu button.save').click()")
    rows = list(csv.DictReader(io.StringIO(chromium.value("saved"), newline="")))
    assert chromium.value("savedAs") == "cpu.csv"
    assert [(row["arm"], row["side"], float(row["cpu_us"])) for row in rows[:4]] == [
        ("classical", "client", 276.4), ("classical", "server", 248.1),
        ("pq", "client", 405.2), ("pq", "server", 352.6)]
    tip = chromium.value("""(() => { const bar = document.querySelector('#cpu .bar');
        bar.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}));
        return document.querySelector('.tip').textContent; })()""")
    assert tip == "cryptography 171\u00a0\u00b5s, 62\u00a0%"


def test_the_page_is_whole_without_scripts_on_paper_and_on_a_telephone(chromium, tmp_path):
    path = made(GOLDEN / "load.json", tmp_path)
    opened(chromium, path, scripts=False)
    chromium.ask("DOM.enable")
    root = chromium.ask("DOM.getDocument")["root"]["nodeId"]
    shown = chromium.ask("DOM.querySelectorAll", nodeId=root, selector=".still svg[role=img]")
    for node in shown["nodeIds"]:
        box = chromium.ask("DOM.getBoxModel", nodeId=node)["model"]
        assert box["width"] > 200 and box["height"] > 100
    assert len(shown["nodeIds"]) == 3
    for width in (320, 380, 1100):
        chromium.look(width=width)
        opened(chromium, path)
        assert chromium.value("document.documentElement.scrollWidth") <= width
    chromium.look(media="print")
    opened(chromium, path)
    assert chromium.value("getComputedStyle(document.querySelector('.still')).display") == "block"
    chromium.look()


def seconds_of(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def test_a_long_run_costs_no_more_than_a_short_one(tmp_path, chromium):
    """5 minutes at 20,000/s and twice that: 54 and 108 million handshakes in nine trials. The
    page's size and the time for it depend on the curves, not on what is behind them."""
    pages = {}
    for samples in (6_000, 6_000_000, 12_000_000):
        path = tmp_path / f"{samples}.json"
        long_result.write(path, samples)
        took = min(seconds_of(lambda: run("report", path)) for _ in range(3))
        pages[samples] = (took, made(path, tmp_path, f"{samples}.html"))
    for samples in (6_000_000, 12_000_000):
        assert pages[samples][1].stat().st_size < 2_000_000
        assert pages[samples][0] < 10 * pages[6_000][0]
    least = min(opened(chromium, pages[6_000][1]) for _ in range(3))
    assert min(opened(chromium, pages[6_000_000][1]) for _ in range(3)) < 10 * least
