# SPDX-License-Identifier: Apache-2.0
"""How many bytes the page has: at most 600 kB for 300 operators of two arms, with graph, what-if and drawers.

The example's recordings have 194 operators; what grows with the operators is scaled up to 300, what does not (style,
scripts, charts, text) stays.

usage: test_page_size.py ETPROF SOURCE_ROOT"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish  # noqa: E402

ETPROF, ROOT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MOST, OPERATORS = 600_000, 300
SAMPLED = 2 * 110 * OPERATORS  # what a session with sampled kernels has more: a line for each operator and arm
FIXED = (r"<style>.*?</style>|<script>.*?</script>|<script[^>]*etprof-data.*?</script>|"
         r"<figure class=\"chart\">.*?</figure>")


def size(text):
    return len(text.encode())


def main():
    with tempfile.TemporaryDirectory(prefix="etp-") as tmp:
        example = ROOT / "examples/runs/image_encoder_int8_qemu"
        dumps = []
        for dump in sorted(example.glob("linux_sme2_o*/*.etdump")):  # recorded twice, so that times have intervals
            dumps += [pathlib.Path(tmp) / dump.name, pathlib.Path(tmp) / (dump.stem + "_b2.etdump")]
            for copy in dumps[-2:]:
                shutil.copy(dump, copy)
        check(dumps)
    finish("the page is as small as it should be")


def check(dumps):
    operands = [*dumps, "--pte", ROOT / "examples/models/image_encoder_xnnpack_int8.pte"]
    made = {form: subprocess.run([ETPROF, "analyze", *operands, "--format", form, "--full"], check=True, timeout=600,
                                 capture_output=True, text=True).stdout for form in ("html", "json")}
    document, page = json.loads(made["json"]), made["html"]
    operators = len(document["operators"])
    expect(len(document["arms"]) == 2 and operators > 150, "two arms of many operators", dumps, operators)
    for part in ('class="graph"', 'class="spans"', 'id="whatif"'):
        expect(part in page, "the page has", part)
    expect(page.count('class="drawer" id="op') == operators, "a drawer for each operator")
    fixed = sum(map(size, re.findall(FIXED, page, re.S)))
    whole = fixed + (size(page) - fixed) * OPERATORS / operators + SAMPLED
    expect(whole <= MOST, f"{whole:.0f} bytes for {OPERATORS} operators, at most {MOST}; of {operators}: {size(page)}",
           "of them fixed:", fixed)
    print(f"{whole / 1000:.0f} kB for {OPERATORS} operators, of them {fixed / 1000:.0f} kB whatever the operators are")


if __name__ == "__main__":
    main()
