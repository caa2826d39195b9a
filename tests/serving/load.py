"""Many clients at once, most of them bad ones, and what a good one notices of them.

usage: load.py ADDRESS PID STREAMS     (the server's address and process)
Slow readers, half requests, garbage, bodies without end and clients that leave share the streams evenly; the good client is a
process of its own, which waits for none of them (load.py with 0 streams). Prints one line of JSON, with the processors that the
server uses for bad clients alone: what they cost, on a busy machine, too. Exit code 1 where the good client is not answered
or the server grows by more than 256 MB.
"""
import asyncio
import collections
import json
import os
import statistics
import sys
import time
from urllib.parse import urlsplit

HOST, PORT, PID, STREAMS = "", 0, 0, 0
MOST_GROWTH_MB = 256
GOOD_ANSWERS = 20
counts = collections.Counter()


def post(body: bytes, *headers: str) -> bytes:
    """A request with headers of its own, or the length of its body."""
    lines = ["POST /v1/completions HTTP/1.1", f"Host: {HOST}", "Content-Type: application/json"]
    lines += headers or (f"Content-Length: {len(body)}",)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def stream_of(tokens: int) -> bytes:
    """Asks for a stream of so many tokens."""
    return post(json.dumps({"prompt": "The ship", "max_tokens": tokens, "stream": True, "ignore_eos": True}).encode())


def memory_mb(field: str) -> float:
    """VmRSS or VmHWM of the server."""
    with open(f"/proc/{PID}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


async def good_answer() -> float:
    """Seconds until the last token of a whole answer."""
    start = time.monotonic()
    reader, writer = await asyncio.open_connection(HOST, PORT)
    writer.write(stream_of(16))
    text = await asyncio.wait_for(reader.readuntil(b"[DONE]"), 120)
    writer.close()
    if not text.startswith(b"HTTP/1.1 200"):
        raise ConnectionError(text[:80])
    return time.monotonic() - start


async def good_answers() -> float:
    """Milliseconds of a good client's answer, the median of some, measured by a process of its own."""
    client = await asyncio.create_subprocess_exec(sys.executable, __file__, sys.argv[1], sys.argv[2], "0",
                                                  stdout=asyncio.subprocess.PIPE)
    text, _ = await client.communicate()
    if client.returncode != 0:
        raise ConnectionError("the good client was not answered")
    return float(text)


def server_seconds() -> float:
    """Of processors, so far."""
    with open(f"/proc/{PID}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def processors_during(work) -> float:
    """Processors that the server uses meanwhile."""
    start, used = time.monotonic(), server_seconds()
    await work
    return (server_seconds() - used) / (time.monotonic() - start)


async def read_slowly(reader, writer) -> None:
    writer.write(stream_of(40))
    while await reader.read(16):
        await asyncio.sleep(0.1)


async def send_half(reader, writer) -> None:
    writer.write(stream_of(40)[:60])
    await reader.read()


async def send_garbage(reader, writer) -> None:
    writer.write(b"\x16\x03\x01\x02 no HTTP\r\n\r\n{]" * 20)
    await reader.read()


async def send_without_end(reader, writer) -> None:
    writer.write(post(b"", "Transfer-Encoding: chunked"))
    while not reader.at_eof():
        writer.write(b"4000\r\n" + b"[" * 0x4000 + b"\r\n")
        await asyncio.wait_for(writer.drain(), 5)
        await asyncio.sleep(0.05)


async def leave(reader, writer) -> None:
    writer.write(stream_of(40))
    await reader.readline()


BAD_CLIENTS = (read_slowly, send_half, send_garbage, send_without_end, leave)


async def bad_client(number: int) -> None:
    """One connection after the other of its kind, until it is cancelled."""
    behave = BAD_CLIENTS[number % len(BAD_CLIENTS)]
    while True:
        try:
            reader, writer = await asyncio.open_connection(HOST, PORT)
            counts[behave.__name__] += 1
            try:
                await behave(reader, writer)
            finally:
                writer.close()
        except (OSError, asyncio.TimeoutError):
            counts[behave.__name__ + "_cut"] += 1
        await asyncio.sleep(0.5)


async def main() -> int:
    if STREAMS == 0:
        print(1e3 * statistics.median([await good_answer() for _ in range(GOOD_ANSWERS)]))
        return 0
    alone = await good_answers()
    before = memory_mb("VmRSS")
    bad = [asyncio.create_task(bad_client(i)) for i in range(STREAMS)]
    await asyncio.sleep(3)
    bad_alone = await processors_during(asyncio.sleep(3))
    good = asyncio.create_task(good_answers())
    busy = await processors_during(good)
    beside = good.result()
    for task in bad:
        task.cancel()
    await asyncio.gather(*bad, return_exceptions=True)
    growth = memory_mb("VmHWM") - before
    print(json.dumps({"streams": STREAMS, "alone_ms": round(alone, 2), "beside_ms": round(beside, 2),
                      "processors_for_bad_clients": round(bad_alone, 3), "server_processors": round(busy, 2), "memory_before_mb": round(before),
                      "memory_growth_mb": round(growth), "connections": dict(counts)}))
    return 0 if growth <= MOST_GROWTH_MB else 1


address = urlsplit(sys.argv[1])
HOST, PORT, PID, STREAMS = address.hostname, address.port, int(sys.argv[2]), int(sys.argv[3])
sys.exit(asyncio.run(main()))
