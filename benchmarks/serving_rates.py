#!/usr/bin/env python3
"""What serving over HTTP takes beside the engine alone, with 128 tokens in and 64 out, on an idle machine.

usage: serving_rates.py MPITRON [MODEL_FLAGS ...]     (default: GPT-2 124M in bf16)

A made-up model is served. The engine's own rate is that of `mpitron generate`: the time of twice as many prompts less that of once as many,
so that the start cancels. Clients ask one request after the other, and read their answers as streams. Prints a table:
shares of the engine's rate with 1, 8 and 32 clients, the time between tokens while others bring long prompts, the time from the start of
the server to its first token, and that of the first token of 512 on an idle server.
"""
import asyncio
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

GPT2 = ["--num-layers", "12", "--hidden-size", "768", "--num-attention-heads", "12", "--bf16"]
VOCABULARY, INPUT, OUTPUT = 50256, 128, 64
TOKENIZER = ["--tokenizer-type", "NullTokenizer", "--vocab-size", str(VOCABULARY)]
LIMITS = ["--inference-max-requests", "32"]


def prompt(tokens: int) -> str:
    """Numbers are the words of the NullTokenizer."""
    return " ".join(str(random.randrange(VOCABULARY)) for _ in range(tokens))


def make_model(program: str, flags: list, folder: pathlib.Path) -> None:
    subprocess.run([program, "pretrain-gpt", *flags, "--seq-length", "1024", "--max-position-embeddings", "1024", "--micro-batch-size", "1",
                    "--train-iters", "1", "--lr", "1e-4", "--mock-data", "--eval-iters", "0", *TOKENIZER, "--save", "model",
                    "--save-interval", "1", "--no-save-optim"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def seconds_of_prompts(program: str, folder: pathlib.Path, count: int, at_once: int) -> float:
    lines = [json.dumps({"text": prompt(INPUT)}) for _ in range(count)]
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "answers.jsonl").unlink(missing_ok=True)
    begin = time.monotonic()
    subprocess.run([program, "generate", "--load", "model", *TOKENIZER, "--inference-max-requests", str(at_once), "--temperature", "0",
                    "--prompt-file", "prompts.jsonl", "--num-tokens-to-generate", str(OUTPUT), "--output-path", "answers.jsonl"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def engine_rate(program: str, folder: pathlib.Path, clients: int) -> float:
    count = max(16, 4 * clients)
    once = min(seconds_of_prompts(program, folder, count, clients) for _ in range(2))
    twice = min(seconds_of_prompts(program, folder, 2 * count, clients) for _ in range(2))
    return count * OUTPUT / (twice - once)


class Server:
    """A server of the model, on a free port."""

    def __init__(self, program: str, folder: pathlib.Path):
        self.begin = time.monotonic()
        self.process = subprocess.Popen([program, "serve", "--load", "model", *TOKENIZER, "--port", "0", *LIMITS], cwd=folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if "http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0].rstrip("."))
                break

    async def stream(self, text: str, tokens: int) -> list:
        """Moments at which pieces of an answer came, the first of them that of the request."""
        body = json.dumps({"prompt": text, "max_tokens": tokens, "temperature": 0, "stream": True, "ignore_eos": True}).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        moments = [time.monotonic()]
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        while True:
            line = await reader.readline()
            if line.startswith(b"data: {"):
                moments.append(time.monotonic())
            if line.startswith(b"data: [DONE]") or not line:
                break
        writer.close()
        return moments

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


async def served_rate(server: Server, clients: int) -> float:
    """Tokens a second of clients that ask one request after the other; the first and the last round are left out."""
    finished = []

    async def client() -> None:
        for _ in range(6 if clients > 1 else 18):
            await server.stream(prompt(INPUT), OUTPUT)
            finished.append(time.monotonic())

    await asyncio.gather(*(client() for _ in range(clients)))
    inner = sorted(finished)[clients - 1:-clients] if clients > 1 else finished[1:-1]
    return (len(inner) - 1) * OUTPUT / (inner[-1] - inner[0])


async def time_between_tokens(server: Server, others: int) -> float:
    """p99 / p50 of one stream while others bring prompts of 512 tokens for one token each."""
    stopped = False

    async def other() -> None:
        while not stopped:
            await server.stream(prompt(512), 1)

    tasks = [asyncio.create_task(other()) for _ in range(others)]
    moments = (await server.stream(prompt(INPUT), 400))[2:]
    stopped = True
    await asyncio.gather(*tasks)
    gaps = sorted(b - a for a, b in zip(moments, moments[1:]))
    return gaps[int(len(gaps) * 0.99)] / statistics.median(gaps)


def tell(name: str, figure: str, goal: str) -> None:
    print(f"{name:52} {figure:>12}   goal {goal}", flush=True)


def main() -> None:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    random.seed(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_model(program, sys.argv[2:] or GPT2, folder)
        server = Server(program, folder)
        asyncio.run(server.stream(prompt(INPUT), 1))
        tell("start of the server to the first token", f"{time.monotonic() - server.begin:.2f} s", "0.5 s + reading")
        first = []
        for _ in range(5):
            moments = asyncio.run(server.stream(prompt(512), 1))
            first.append(moments[1] - moments[0])
        tell("first token of 512, idle server", f"{min(first) * 1e3:.1f} ms", "1.1 x prefill + 2 ms")
        for clients in (1, 8, 32):
            served = asyncio.run(served_rate(server, clients))
            alone = engine_rate(program, folder, clients)
            tell(f"{clients} clients: {served:.1f} tokens/s, engine {alone:.1f}", f"{100 * served / alone:.0f} %", "92 %")
        for others in (1, 4):
            tell(f"time between tokens, p99 / p50, {others} with prompts", f"{asyncio.run(time_between_tokens(server, others)):.2f}", "2")
        server.close()


if __name__ == "__main__":
    main()
