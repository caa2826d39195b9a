#!/usr/bin/env python3
"""What serving over HTTP takes beside the engine alone, with 128 tokens in and 64 out, on an idle machine.

usage: serving_rates.py MPITRON [--rows start first shares gaps] [--clients 1 8 32] [--turns 3] [--serve="FLAGS"]
                        [--model="FLAGS"] [--folder FOLDER]      (default: GPT-2 124M in bf16, all rows, 7 minutes)

A made-up model is served. The engine's own rate is what `mpitron generate --json` tells of as many answers at once, which counts
neither its start nor loading. Server and engine are measured by turns, and the median of the turns' shares is told, since a
machine's speed changes from minute to minute. Clients ask one request after the other, and read their answers as streams. Prints a
table: shares of the engine's rate with 1, 8 and 32 clients, and what these clients took of the processors; the time between tokens
while others bring long prompts; the time from the start of the server to its first token, and that of the first token of 512 on an
idle server, beside what the engine alone takes for it. `--serve` gives the server more flags, to compare settings; `--folder` keeps the model for the next call.
"""
import argparse
import json
import pathlib
import random
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time

GPT2 = "--num-layers 12 --hidden-size 768 --num-attention-heads 12 --bf16"
VOCABULARY, INPUT, OUTPUT = 50256, 128, 64
TOKENIZER = ["--tokenizer-type", "NullTokenizer", "--vocab-size", str(VOCABULARY)]
LIMITS = ["--inference-max-requests", "32"]
ROWS = ("start", "first", "shares", "gaps")


def prompt(tokens: int) -> str:
    """Numbers are the words of the NullTokenizer."""
    return " ".join(str(random.randrange(VOCABULARY)) for _ in range(tokens))


def make_model(program: str, flags: list, folder: pathlib.Path) -> None:
    subprocess.run([program, "pretrain-gpt", *flags, "--seq-length", "1024", "--max-position-embeddings", "1024", "--micro-batch-size", "1",
                    "--train-iters", "1", "--lr", "1e-4", "--mock-data", "--eval-iters", "0", *TOKENIZER, "--save", "model",
                    "--save-interval", "1", "--no-save-optim"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def generate(program: str, folder: pathlib.Path, at_once: int, answers: int, tokens_in: int, tokens_out: int) -> dict:
    """What the engine alone tells of so many answers."""
    lines = [json.dumps({"text": prompt(tokens_in)}) for _ in range(answers)]
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    told = subprocess.run([program, "generate", "--load", "model", *TOKENIZER, "--inference-max-requests", str(at_once),
                           "--temperature", "0", "--prompt-file", "prompts.jsonl", "--num-tokens-to-generate", str(tokens_out), "--json"],
                          cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(told.strip().rsplit("\n", 1)[-1])


def engine_rate(program: str, folder: pathlib.Path, clients: int) -> float:
    """Tokens a second of as many rounds of answers as the clients have, without a server."""
    return generate(program, folder, clients, clients * (rounds(clients) - 2), INPUT, OUTPUT)["tokens_per_second"]


def rounds(clients: int) -> int:
    """Requests of a client; the first and the last are not counted."""
    return 18 if clients == 1 else 6


def seconds_to_read(folder: pathlib.Path) -> float:
    """Of the model's files, which the machine's memory holds already."""
    begin = time.monotonic()
    buffer = bytearray(1 << 24)
    for path in (folder / "model").rglob("*"):
        if path.is_file():
            with open(path, "rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass
    return time.monotonic() - begin


class Stream:
    """A request whose answer comes as a stream. Bytes are hardly looked at, so that clients leave the processors to the server."""

    def __init__(self, port: int, text: str, tokens: int):
        body = json.dumps({"prompt": text, "max_tokens": tokens, "temperature": 0, "stream": True, "ignore_eos": True}).encode()
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.moments = [time.monotonic()]  # of the request, then of each piece of the answer
        self.end = b""
        self.socket.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def read(self) -> bool:
        """Takes what has come; whether it was the last."""
        data = self.socket.recv(1 << 16)
        if not self.end and not data.startswith(b"HTTP/1.1 200"):
            sys.exit(f"the server answered: {data.decode(errors='replace')}")
        if b"data: {" in data:
            self.moments.append(time.monotonic())
        self.end = (self.end + data)[-64:]
        return not data or b"[DONE]" in self.end


def drive(clients: list) -> None:
    """Each client yields its requests, one after the other; all run at once until none has another one."""
    selector = selectors.DefaultSelector()

    def ask(client) -> None:
        stream = next(client, None)
        if stream is not None:
            selector.register(stream.socket, selectors.EVENT_READ, (client, stream))

    for client in clients:
        ask(client)
    while selector.get_map():
        for key, _ in selector.select():
            client, stream = key.data
            if stream.read():
                selector.unregister(stream.socket)
                stream.socket.close()
                ask(client)


class Server:
    """A server of the model, on a free port."""

    def __init__(self, program: str, folder: pathlib.Path, flags: str):
        self.begin = time.monotonic()
        command = [program, "serve", "--load", "model", *TOKENIZER, "--port", "0", *LIMITS, *flags.split()]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if "http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0].rstrip("."))
                break

    def stream(self, tokens_in: int, tokens_out: int) -> Stream:
        return Stream(self.port, prompt(tokens_in), tokens_out)

    def answer(self, tokens_in: int, tokens_out: int) -> list:
        """Moments of one answer alone."""
        streams = [self.stream(tokens_in, tokens_out)]
        drive([iter(streams)])
        return streams[0].moments

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def served_rate(server: Server, clients: int) -> tuple:
    """Tokens a second of clients that ask one request after the other; the first and the last round are left out. Beside it, the
    share of one processor that the clients took, which the server does not have where there is none to spare."""
    finished = []
    wall, busy = time.monotonic(), time.process_time()

    def client():
        for _ in range(rounds(clients)):
            yield server.stream(INPUT, OUTPUT)
            finished.append(time.monotonic())

    drive([client() for _ in range(clients)])
    inner = sorted(finished)[clients - 1:-clients]
    taken = (time.process_time() - busy) / (time.monotonic() - wall)
    return (len(inner) - 1) * OUTPUT / (inner[-1] - inner[0]), taken


def tell_shares(program: str, folder: pathlib.Path, server: Server, clients: int, count: int) -> None:
    """What the server gives of the engine's rate, turn by turn."""
    turns = [(*served_rate(server, clients), engine_rate(program, folder, clients)) for _ in range(count)]
    served, taken, alone = (statistics.median(rates) for rates in zip(*turns))
    shares = sorted(100 * each / other for each, _, other in turns)
    tell(f"{clients} clients: {served:.1f} tokens/s, engine {alone:.1f}", f"{statistics.median(shares):.0f} %",
         f"92 % (turns: {shares[0]:.0f} to {shares[-1]:.0f}; clients: {100 * taken:.0f} % of a processor)")


def tell_first(program: str, folder: pathlib.Path, server: Server) -> None:
    """The first token of a prompt of 512, and what the engine needs for prompts and tokens like it."""
    server.answer(INPUT, 1)
    first = min(b - a for a, b in (server.answer(512, 1)[:2] for _ in range(5)))
    alone = min(generate(program, folder, 1, 3, 512, 1)["seconds"] / 3 for _ in range(2))
    tell("first token of 512, idle server", f"{1e3 * first:.1f} ms", f"{1.1e3 * alone + 2:.1f} ms (1.1 x engine + 2)")


def tell_start(program: str, folder: pathlib.Path, flags: str) -> None:
    """From the start of a server to its first token; the best of three, as the machine has its moments."""
    reading = min(seconds_to_read(folder) for _ in range(2))
    taken = []
    for _ in range(3):
        server = Server(program, folder, flags)
        server.answer(INPUT, 1)
        taken.append(time.monotonic() - server.begin)
        server.close()
    tell("start of the server to the first token", f"{min(taken):.2f} s", f"0.5 s + {reading:.2f} s of reading")


def time_between_tokens(server: Server, others: int) -> float:
    """p99 / p50 of one stream while others bring prompts of 512 tokens for one token each."""
    watched = server.stream(INPUT, 400)
    done = []

    def watcher():
        yield watched
        done.append(True)

    def other():
        while not done:
            yield server.stream(512, 1)

    drive([watcher(), *(other() for _ in range(others))])
    moments = watched.moments[2:]
    gaps = sorted(b - a for a, b in zip(moments, moments[1:]))
    return gaps[int(len(gaps) * 0.99)] / statistics.median(gaps)


def tell_gaps(server: Server, others: int, count: int) -> None:
    """The median of some streams, as four gaps of a stream's 399 decide what it tells."""
    turns = sorted(time_between_tokens(server, others) for _ in range(count))
    tell(f"time between tokens, p99 / p50, {others} with prompts", f"{statistics.median(turns):.2f}",
         f"2 (turns: {turns[0]:.2f} to {turns[-1]:.2f})")


def tell(name: str, figure: str, goal: str) -> None:
    print(f"{name:52} {figure:>12}   goal {goal}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 8, 32])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--serve", default="", help="more flags of the server")
    parser.add_argument("--model", default=GPT2, help="flags of the model")
    parser.add_argument("--folder", type=pathlib.Path, help="where the model is, or shall be")
    return parser.parse_args()


def main() -> None:
    chosen = arguments()
    program = str(pathlib.Path(chosen.program).resolve())
    random.seed(1)
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.folder or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "model").exists():
            make_model(program, chosen.model.split(), folder)
        if "start" in chosen.rows:
            tell_start(program, folder, chosen.serve)
        server = Server(program, folder, chosen.serve)
        if "first" in chosen.rows:
            tell_first(program, folder, server)
        for clients in chosen.clients if "shares" in chosen.rows else []:
            tell_shares(program, folder, server, clients, chosen.turns)
        for others in (1, 4) if "gaps" in chosen.rows else []:
            tell_gaps(server, others, chosen.turns)
        server.close()


if __name__ == "__main__":
    main()
