# SPDX-License-Identifier: Apache-2.0
"""etprof stats -: anybody's samples through a pipe, sound and hostile.

usage: stats_stdin.py ETPROF DATA_DIR"""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish

ETPROF, DATA = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
HEAD = b"experiment,block,iteration,duration_ns\n"


def run(data, *args, verb="stats"):
    return execute(ETPROF, verb, *args, input=data, text=False)


def rows(arms=("a", "b"), blocks=8, durations=None, extra=b""):
    text = HEAD[:-1] + extra + b"\n"
    for block in range(1, blocks + 1):
        for i, arm in enumerate(arms):
            for it in range(9):
                ns = durations(block, i, it) if durations else 1000000 * (i + 1) + 500 * it + 900 * (block * 7 % 5)
                text += b"%s,%d,%d,%d\n" % (arm.encode(), block, it, ns)
    return text


def sound():
    sample = (DATA / "samples.csv").read_bytes()
    piped, file = run(sample, "-", "--format", "json"), run(b"", str(DATA / "samples.csv"), "--format", "json")
    expect(piped.returncode == 0 and piped.stdout == file.stdout,
           f"a pipe gives another answer than the file: {piped.stderr}")
    for name, data in (("CR LF", sample.replace(b"\n", b"\r\n")), ("byte order mark", b"\xef\xbb\xbf" + sample),
                       ("no last newline", sample.rstrip(b"\n")),
                       ("other columns", sample.replace(b"\n", b",x\n").replace(b"_ns,x", b"_ns,more"))):
        expect(run(data, "-", "--format", "json").stdout == file.stdout, name)
    lines = sample.splitlines(keepends=True)
    shuffled = lines[1:]
    random.Random(3).shuffle(shuffled)
    one, other = json.loads(file.stdout), json.loads(run(lines[0] + b"".join(shuffled), "-", "--baseline",
                                                         "demo_sme2_off", "--format", "json").stdout)
    expect(one["speedup"] == other["speedup"], "the order of rows changes the ratio")


def hostile():
    good = rows()
    cases = {  # input: what the message has to name; more of them and their places: csv_refusals of unit.stats_session
        "nothing": (b"", b"empty"),
        "a column twice": (HEAD.replace(b"block", b"block,block") + b"a,1,1,0,5\n", b"two columns are called 'block'"),
        "a name with a byte 0": (good + b"a\0b,9,0,5\n", b"line 146: experiment 'a"),
        "fraction": (good + b"a,99,0,1.5\n", b"line 146"),
        "beyond 146 years": (good + b"a,99,0,9223372036854775807\n", b"line 146"),
        "long row": (good + b"a,9,0,5,6\n", b"line 146"),
        "quote left open": (good + b'"a,9,0,5\n', b"at byte 2055"),
        "a row twice": (good + b"a,1,0,1000000\n", b"line"),
        "UTF-16": (good.decode().encode("utf-16"), b"a table in UTF-16"),
        "NUL": (good.replace(b"a,1,0", b"a\0b,1,0"), None),
        "2000 experiments": (HEAD + b"".join(b"e%d,1,0,5\n" % i for i in range(2000)), b"1000 experiments"),
        "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, None),
    }
    for name, (data, words) in cases.items():
        done = run(data, "-")
        expect(done.returncode == (4 if words else done.returncode) and done.returncode in (0, 4),
               f"{name}: exit {done.returncode} {done.stderr}")
        if words:
            expect(words in done.stderr and done.stdout == b"" and done.stderr.count(b"\n") == 1,
                   f"{name}: {done.stderr}")
    rng = random.Random(11)
    for number in range(150):
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            data[at:at + rng.randint(0, 3)] = bytes(rng.choices(b"0123456789,\n\"\r\0-+.eEab\xff", k=rng.randint(0, 4)))
        done = ended(run(bytes(data), "-", "--format", "json"), 0, 4, of=number)
        if done.returncode == 0:
            expect(json.loads(done.stdout)["schema"] == "etprof.stats/1", f"mutation {number}")


def extreme():
    # Sound tables at the edge of what numbers hold: an answer, and never a verdict out of nothing.
    for name, durations in (("one nanosecond", lambda b, i, it: 1), ("146 years", lambda b, i, it: 1 << 62),
                            ("both", lambda b, i, it: 1 if i else 1 << 62)):
        done = ended(run(rows(durations=durations), "-", "--format", "json"), 0, of=name)
        answer = json.loads(done.stdout)
        expect(answer["verdict"] == ("faster" if name == "both" else "same"), f"{name}: {answer['verdict']}")
    few = json.loads(run(rows(blocks=5), "-", "--format", "json").stdout)
    expect(few["verdict"] == "unknown", "a verdict from five blocks")


sound()
hostile()
extreme()
finish()
