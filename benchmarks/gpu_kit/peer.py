#!/usr/bin/env python3
"""Times training steps of the same shapes as gpu_step_bench in PyTorch, compiled, with its fused attention and AdamW.

usage: peer.py [--minutes N] [--summary FILE] [SHAPE ...]      shapes: see SHAPES

The peer does less than mpitron's step does: weights, gradients and both of Adam's states are bf16 (8 bytes a parameter,
where mpitron keeps 18), and gradients are not clipped.  So its rate is an upper bound of what PyTorch reaches with the
same numerics.  A process for each shape keeps one shape's memory from the next.
"""
import argparse
import json
import subprocess
import sys
import time

# layers, width, heads, sequence, vocabulary, width of the gated layer (0: GELU of four times the width), samples a step
SHAPES = {
    "gpt2-124m": (12, 768, 12, 1024, 50304, 0, 32),
    "llama-1.3b": (24, 2048, 16, 4096, 32000, 5504, 4),
    "llama-7b": (32, 4096, 32, 4096, 32000, 11008, 1),
}


def build(torch, shape):
    """The model as a module from token ids [b, s] and labels [b, s] to the mean loss."""
    layers, width, heads, sequence, vocabulary, gated, _ = shape
    nn, functional = torch.nn, torch.nn.functional
    llama = gated > 0

    def norm():
        return nn.RMSNorm(width) if llama else nn.LayerNorm(width)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = norm(), norm()
            self.qkv = nn.Linear(width, 3 * width, bias=not llama)
            self.out = nn.Linear(width, width, bias=not llama)
            self.up = nn.Linear(width, 2 * gated if llama else 4 * width, bias=not llama)
            self.down = nn.Linear(gated if llama else 4 * width, width, bias=not llama)

        def forward(self, x, cosine, sine):
            q, k, v = (
                part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
            )
            if llama:
                q, k = (rotate(part, cosine, sine) for part in (q, k))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).flatten(2))
            inner = self.up(self.norm2(x))
            if llama:
                gate, value = inner.chunk(2, dim=-1)
                inner = functional.silu(gate) * value
            else:
                inner = functional.gelu(inner, approximate="tanh")
            return x + self.down(inner)

    def rotate(x, cosine, sine):
        first, second = x.chunk(2, dim=-1)
        return x * cosine + torch.cat((-second, first), dim=-1) * sine

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.places = None if llama else nn.Embedding(sequence, width)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm = norm()
            self.head = nn.Linear(width, vocabulary, bias=False)
            if not llama:
                self.head.weight = self.words.weight
            angles = torch.arange(sequence)[:, None] * 10000.0 ** (-torch.arange(0, width // heads, 2) / (width // heads))
            self.register_buffer("cosine", torch.cat((angles, angles), dim=-1).cos())
            self.register_buffer("sine", torch.cat((angles, angles), dim=-1).sin())

        def forward(self, tokens, labels):
            x = self.words(tokens)
            if self.places is not None:
                x = x + self.places.weight
            for layer in self.layers:
                x = layer(x, self.cosine, self.sine)
            return functional.cross_entropy(self.head(self.norm(x)).flatten(0, 1).float(), labels.flatten())

    with torch.device("cuda"):
        return Model().to(torch.bfloat16)


def time_steps(name):
    """Prints the tokens per second of the fastest step of one shape."""
    import torch

    shape = SHAPES[name]
    _, _, _, sequence, vocabulary, _, samples = shape
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    model = build(torch, shape)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    compiled = torch.compile(model)
    tokens = torch.randint(vocabulary, (samples, sequence + 1), device="cuda")

    def step():
        loss = compiled(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    fastest = float("inf")
    for i in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        if i > 2:  # the first ones compile and allocate
            fastest = min(fastest, time.perf_counter() - begin)
    print(json.dumps({"name": f"peer_{name}_tokens_per_second", "value": samples * sequence / fastest, "unit": "tokens/s",
                      "version": torch.__version__}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", choices=[[], *SHAPES], default=[])
    parser.add_argument("--minutes", type=float, default=3, help="end before this time is over (default 3)")
    parser.add_argument("--summary", help="write the figures into this file, too")
    parser.add_argument("--one", choices=SHAPES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return time_steps(arguments.one)
    end, figures = time.monotonic() + 60 * arguments.minutes, []
    for shape in arguments.shapes or SHAPES:
        left = end - time.monotonic()
        try:
            run = subprocess.run([sys.executable, __file__, "--one", shape], capture_output=True, text=True,
                                 timeout=max(left, 1), check=True)
            figures.append(json.loads(run.stdout.splitlines()[-1]))
            print(figures[-1]["name"], f"{figures[-1]['value']:.0f} tokens/s", flush=True)
        except subprocess.TimeoutExpired:
            print(f"{shape}: the time is over", flush=True)
        except subprocess.CalledProcessError as error:
            print(f"{shape}: failed: {error.stderr.strip().splitlines()[-1]}", flush=True)
    if arguments.summary:
        with open(arguments.summary, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
