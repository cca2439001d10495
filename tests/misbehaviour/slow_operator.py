# SPDX-License-Identifier: Apache-2.0
"""A recording in which one operator takes longer, for tests of what a pull request is told."""
import gzip
import json
import pathlib
import re
import struct


def slowed(source, operator, ticks):
    """The recording with OPERATOR taking TICKS longer: every later moment of it is moved. The moments are those of
    SOURCE.json.gz, read by another program; they are found in the bytes as they are."""
    data = bytearray(source.read_bytes())
    runs = json.loads(gzip.decompress(pathlib.Path(f"{source}.json.gz").read_bytes()))["run_data"]
    events = [e["profile_event"] for r in runs for e in r["events"] if e.get("profile_event")]
    ends = [e["end_time"] for e in events if e.get("name") == operator]
    moments = {e[key] for e in events for key in ("start_time", "end_time")}
    places = {at: moment for moment in moments
              for at in (m.start() for m in re.finditer(re.escape(struct.pack("<Q", moment)), data))}
    assert len(ends) >= 3 and len(places) >= len(moments), (operator, len(ends), len(places))
    for at, moment in places.items():
        data[at:at + 8] = struct.pack("<Q", moment + ticks * sum(end <= moment for end in ends))
    return bytes(data)
