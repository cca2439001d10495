# SPDX-License-Identifier: Apache-2.0
"""The rules of proofs by name, held against names and instructions recorded from published builds.

asked_names.tsv is what bench/kernels/names recorded: it asked 11 builds for one operator per data type at a
level with the feature and at one without. Whether the feature ran is known from the instructions.

usage: test_names.py JUDGE    (bench/kernels/judge_names.c)"""
import collections
import pathlib
import re
import subprocess
import sys
import unittest

JUDGE = str(pathlib.Path(sys.argv.pop(1)).resolve())
RECORD = pathlib.Path(__file__).with_name("asked_names.tsv")
WITH, WITHOUT = {"x86_64": "vnni", "aarch64": "sme2"}, {"x86_64": "avx512", "aarch64": "neon"}


def builds():
    out = collections.defaultdict(list)
    for line in RECORD.read_text().splitlines()[3:]:
        version, arch, build, level, kind, ran, name = line.split("\t")
        out[version, arch, build].append((level, kind, ran == "yes", name))
    return out


def false(proof, ran):
    return proof in ("sme", "vnni") and not ran or proof == "not_vnni" and ran


class Names(unittest.TestCase):
    def test_no_proof_of_a_recorded_name_is_false(self):
        names = proofs = 0
        for (version, arch, _), rows in builds().items():
            learned = collections.defaultdict(list)
            for level, _, _, name in rows:
                learned[level].append(re.sub(r" #\d+$", "", name))
            self.assertEqual(set(learned), {WITH[arch], WITHOUT[arch]})
            text = "\n".join([arch, "; ".join(learned[WITH[arch]]), "; ".join(learned[WITHOUT[arch]]),
                              *(name for _, _, _, name in rows)]) + "\n"
            said = subprocess.run([JUDGE], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
            self.assertEqual(len(said), len(rows))
            for line, (level, kind, ran, name) in zip(said, rows):
                by_book, by_table = line.split("\t")
                with self.subTest(build=version + " " + arch, level=level, type=kind, name=name):
                    self.assertFalse(false(by_book, ran), by_book)
                    self.assertFalse(false(by_table, ran), by_table)
                names, proofs = names + 1, proofs + (by_book != "nothing")
        # bench/results.md says these figures
        self.assertEqual((len(builds()), names, proofs), (11, 224, 41))


if __name__ == "__main__":
    unittest.main()
