#!/usr/bin/env python3
"""Packs the UCI optical digits into digits.zlib.

    python3 make_digits.py optdigits.tra optdigits.tes

Each record is 65 bytes: 64 grey levels (0 to 16) row by row, then the class. The 3,823 training
records come first, then the 1,797 test records, in the order of the source files. The input files
are checked against the checksums of the copies the file was made from.
"""
import hashlib
import pathlib
import sys
import zlib

SOURCES = [
    ("e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd", 3823),
    ("6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8", 1797),
]

packed = bytearray()
for path, (checksum, count) in zip(sys.argv[1:3], SOURCES, strict=True):
    text = pathlib.Path(path).read_bytes()
    assert hashlib.sha256(text).hexdigest() == checksum, f"{path} is not the file expected"
    records = [bytes(map(int, line.split(b","))) for line in text.split()]
    assert len(records) == count and all(len(record) == 65 for record in records)
    assert max(max(record) for record in records) == 16
    packed += b"".join(records)

output = pathlib.Path(__file__).with_name("digits.zlib")
output.write_bytes(zlib.compress(bytes(packed), 9))
print(f"{output}: {output.stat().st_size} bytes")
