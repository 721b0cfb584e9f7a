"""Damage to files that knows how they are built: tokens, fields of headers, members of archives, bytes."""

import gzip
import io
import re
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
from corpus import archive

TOKENS = [
    *("nan", "inf", "-inf", "-1", "0", "1e400", "1e-400", "9" * 40, "0x10", "1,5", "", " ", "''", '"', '""'),
    *(
        "#",
        "%",
        "NULL",
        "None",
        "true",
        "\ufeff",
        "\x00",
        "\x1b[31m",
        "é",
        "水",
        "🙂",
        "a b",
        "=1+1",
        "../../x",
    ),
    *("source", "id", "label", "1e5", "00012", "-0", "+1", "1_000", "2147483648", "9223372036854775808"),
    *("interrupt", "Out of Memory", "No space left", "{", "[", "\\", "\t", "\r", "\n"),
]
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    18,
    19,
    20,
    127,
    128,
    255,
    256,
    65535,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**63 - 1,
    2**63,
]


def mutate(rng, name, content):
    """One to three kinds of damage to a file, or to the members of an archive."""
    if isinstance(content, dict):
        return _mutate_members(rng, name, content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        content = _mutate_once(rng, name, content)
    return content


def _mutate_once(rng, name, content):
    options = [_flip, _cut, _repeat, _truncate, _insert, _splice]
    if name.endswith((".csv", ".tsv", ".txt", ".mtx", ".graphml", ".json", ".jsonl", ".csv.gz")):
        options += [_token] * 4 + [_line, _number, _number]
    if name.endswith(".npy"):
        options += [_header, _header, _header]
    if name.endswith(".parquet"):
        options += [_retype, _retype]
    return rng.choice(options)(rng, content)


def _mutate_members(rng, name, members):
    members = dict(members)
    key = rng.choice(sorted(members))
    kind = rng.randrange(6)
    if kind == 0:
        del members[key]
    elif kind == 1:
        members[key + "x"] = members.pop(key)
    elif kind == 2:
        members[key] = members[rng.choice(sorted(members))]
    elif key.endswith(".csv.gz"):
        members[key] = gzip.compress(mutate(rng, "x.csv", gzip.decompress(members[key])))
    else:
        members[key] = mutate(rng, key, members[key])
    packed = archive(members, packed=rng.random() < 0.3)
    return _mutate_once(rng, name, packed) if rng.random() < 0.2 else packed


def _place(rng, content, extra=0):
    return rng.randrange(len(content) + extra) if len(content) + extra > 0 else 0


def _flip(rng, content):
    if not content:
        return b"\0"
    at = _place(rng, content)
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def _cut(rng, content):
    at = _place(rng, content, 1)
    return content[:at] + content[at + rng.choice([1, 2, 4, 8, 64, 512]) :]


def _repeat(rng, content):
    at = _place(rng, content, 1)
    part = content[at : at + rng.choice([1, 4, 16, 64, 256])]
    return content[:at] + part * rng.choice([2, 3, 50]) + content[at:]


def _truncate(rng, content):
    return content[: _place(rng, content, 1)]


def _insert(rng, content):
    at = _place(rng, content, 1)
    odd = rng.choice(
        [b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\0" * 64, b"A" * 5000, b'"', b"\x80\x02"]
    )
    return content[:at] + odd + content[at:]


def _splice(rng, content):
    at = _place(rng, content, 1)
    number = rng.choice(NUMBERS) % 2**64
    size = rng.choice([1, 2, 4, 8])
    raw = (number % 2 ** (8 * size)).to_bytes(size, rng.choice(["little", "big"]))
    return content[:at] + raw + content[at + size :]


def _token(rng, content):
    """Another word in place of a field."""
    spans = [match.span() for match in re.finditer(rb"[^,;\t \n<>=\"]+", content)]
    if not spans:
        return rng.choice(TOKENS).encode()
    begin, end = rng.choice(spans)
    return content[:begin] + rng.choice(TOKENS).encode() + content[end:]


def _number(rng, content):
    spans = [match.span() for match in re.finditer(rb"\d+", content)]
    if not spans:
        return content
    begin, end = rng.choice(spans)
    return content[:begin] + str(rng.choice(NUMBERS)).encode() + content[end:]


def _line(rng, content):
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[rng.randrange(len(lines))])
    elif kind == 2:
        lines.insert(at, b"# " + lines[at])
    elif kind == 3:
        lines[at] = lines[at].replace(b",", b";")
    else:
        lines[at] += b",extra"
    return b"\n".join(lines)


def _header(rng, content):
    """Another word in the header of a .npy file, its length kept right."""
    if len(content) < 12:
        return content
    length = int.from_bytes(content[8:10], "little")
    head, body = content[10 : 10 + length], content[10 + length :]
    swaps = [
        (rb"\d+", str(rng.choice(NUMBERS)).encode()),
        (rb"'[<|>][a-zA-Z]\d+'", b"'|O'"),
        (rb"False", b"True"),
    ]
    swaps += [
        (rb"'[<|>][a-zA-Z]", b"'>" + rng.choice([b"f", b"i", b"u", b"c", b"M", b"V", b"S", b"U", b"b"])),
        (rb"\(", b"(("),
    ]
    pattern, new = rng.choice(swaps)
    spans = [match.span() for match in re.finditer(pattern, head)]
    if not spans:
        return content
    begin, end = rng.choice(spans)
    head = head[:begin] + new + head[end:]
    return content[:8] + (len(head) % 65536).to_bytes(2, "little") + head + body


def _retype(rng, content):
    """A whole Parquet file, one column of which has another type or is missing values."""
    try:
        table = pq.read_table(io.BytesIO(content))
    except Exception:
        return content
    at = rng.randrange(table.num_columns)
    name, n = table.column_names[at], table.num_rows
    columns = [
        pa.nulls(n),
        pa.array([None if i % 3 else "x" for i in range(n)]),
        pa.array([i % 2 == 0 for i in range(n)]),
        pa.array([float("nan") if i == 2 else i / 2 for i in range(n)]),
        pa.array([[] for _ in range(n)], pa.list_(pa.float64())),
        pa.array([{"a": i} for i in range(n)]),
        pa.array([bytes([i % 256]) for i in range(n)]),
        pa.array(list(range(n)), pa.timestamp("us")),
        pa.array([i % 7 for i in range(n)], pa.uint64()),
        pa.array([str(i % 5) for i in range(n)]).dictionary_encode(),
        pa.array([2**63 + i for i in range(n)], pa.uint64()),
        pa.array([[1.0] * (1 + i % 2) for i in range(n)]),
    ]
    changed = table.set_column(at, name, rng.choice(columns))
    if rng.random() < 0.2:
        changed = changed.drop_columns([changed.column_names[-1]])
    file = io.BytesIO()
    pq.write_table(changed, file)
    return file.getvalue()


def written(name, content):
    """The bytes of a file: archives and packed text are put together."""
    if isinstance(content, dict):
        return archive(content)
    return gzip.compress(content) if name.endswith(".gz") and not content.startswith(b"\x1f\x8b") else content


__all__ = ["mutate", "written", "zipfile"]
