#!/usr/bin/env python3
"""Writes reference_logits.json: logits of four tiny models in Hugging Face's layout.

usage: reference_logits.py > reference_logits.json

An implementation of its own of GPT-2, Llama (3.1's rotary scaling, head_dim of its own), Mistral and Qwen2, written from
the papers and the definitions of config.json, in double precision and plain Python; nothing of mpitron is used. The
weights are a function of name and index (see `value`), so that a test can make the same files:
    tests/convert/hugging_face_models.h
"""
import json
import math

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6]
MASK = (1 << 64) - 1
VOCAB, HIDDEN, FFN, LAYERS, HEADS, POSITIONS = 61, 24, 40, 2, 4, 16


def value(name, index):
    """In [-1, 1) with 16 bits: FNV-1a of the name, then one step of SplitMix64."""
    seed = 0xcbf29ce484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001b3) & MASK
    z = (seed + (index + 1) * 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
    z ^= z >> 31
    return ((z >> 48) - 32768) / 32768


def is_norm_weight(name):
    return name.endswith(("norm.weight", "layernorm.weight", "ln_1.weight", "ln_2.weight", "ln_f.weight"))


def element(name, index):
    return 1 + value(name, index) / 8 if is_norm_weight(name) else value(name, index) / 4


class Model:
    def __init__(self, config, tensors):
        self.config = config
        self.tensors = tensors
        self.values = {name: [element(name, i) for i in range(math.prod(shape))] for name, shape in tensors.items()}

    def vector(self, name):
        return self.values[name]

    def row(self, name, i):
        columns = self.tensors[name][1]
        return self.values[name][i * columns:(i + 1) * columns]

    def linear(self, prefix, x):
        """y = W x + b, W [out, in]."""
        rows = self.tensors[prefix + ".weight"][0]
        bias = self.values.get(prefix + ".bias", [0] * rows)
        return [sum(w * v for w, v in zip(self.row(prefix + ".weight", i), x)) + bias[i] for i in range(rows)]

    def conv1d(self, prefix, x):
        """GPT-2's linear layer: y = x W + b, W [in, out]."""
        y = list(self.vector(prefix + ".bias"))
        for i, v in enumerate(x):
            for j, w in enumerate(self.row(prefix + ".weight", i)):
                y[j] += v * w
        return y

    def layer_norm(self, prefix, x):
        mean = sum(x) / len(x)
        scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + self.config["layer_norm_epsilon"])
        return [(v - mean) * scale * g + b for v, g, b in zip(x, self.vector(prefix + ".weight"), self.vector(prefix + ".bias"))]

    def rms_norm(self, name, x):
        scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + self.config["rms_norm_eps"])
        return [v * scale * g for v, g in zip(x, self.vector(name + ".weight"))]


def add(x, y):
    return [a + b for a, b in zip(x, y)]


def attend(queries, keys, values):
    """Causal attention of one head: lists over positions."""
    out = []
    for i, q in enumerate(queries):
        scores = [sum(a * b for a, b in zip(q, keys[j])) / math.sqrt(len(q)) for j in range(i + 1)]
        largest = max(scores)
        weights = [math.exp(s - largest) for s in scores]
        total = sum(weights)
        out.append([sum(w * values[j][c] for j, w in enumerate(weights)) / total for c in range(len(q))])
    return out


def heads_of(rows, count):
    """[position][head * channel] -> [head][position][channel]."""
    width = len(rows[0]) // count
    return [[row[h * width:(h + 1) * width] for row in rows] for h in range(count)]


def joined(heads):
    return [sum((head[i] for head in heads), []) for i in range(len(heads[0]))]


def gelu_new(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gpt2_logits(model, tokens):
    n = model.config["n_head"]
    xs = [add(model.row("transformer.wte.weight", t), model.row("transformer.wpe.weight", i)) for i, t in enumerate(tokens)]
    for layer in range(model.config["n_layer"]):
        at = f"transformer.h.{layer}."
        qkv = [model.conv1d(at + "attn.c_attn", model.layer_norm(at + "ln_1", x)) for x in xs]
        h = len(xs[0])
        q, k, v = (heads_of([row[part * h:(part + 1) * h] for row in qkv], n) for part in range(3))
        mixed = joined([attend(q[i], k[i], v[i]) for i in range(n)])
        xs = [add(x, model.conv1d(at + "attn.c_proj", y)) for x, y in zip(xs, mixed)]
        for i, x in enumerate(xs):
            inner = [gelu_new(v) for v in model.conv1d(at + "mlp.c_fc", model.layer_norm(at + "ln_2", x))]
            xs[i] = add(x, model.conv1d(at + "mlp.c_proj", inner))
    xs = [model.layer_norm("transformer.ln_f", x) for x in xs]
    return [[sum(a * b for a, b in zip(x, model.row("transformer.wte.weight", t))) for t in range(model.config["vocab_size"])] for x in xs]


def frequencies(config, channels):
    out = []
    for i in range(0, channels, 2):
        f = config["rope_theta"] ** (-i / channels)
        scaling = config.get("rope_scaling")
        if scaling:
            original = scaling["original_max_position_embeddings"]
            low, high, wave = scaling["low_freq_factor"], scaling["high_freq_factor"], 2 * math.pi / f
            if wave > original / low:
                f /= scaling["factor"]
            elif wave > original / high:
                smooth = (original / wave - low) / (high - low)
                f = (1 - smooth) * f / scaling["factor"] + smooth * f
        out.append(f)
    return out


def rotated(x, position, freqs):
    half = len(x) // 2
    out = list(x)
    for i, f in enumerate(freqs):
        c, s = math.cos(position * f), math.sin(position * f)
        out[i], out[i + half] = x[i] * c - x[i + half] * s, x[i + half] * c + x[i] * s
    return out


def llama_logits(model, tokens):
    config = model.config
    n, g = config["num_attention_heads"], config["num_key_value_heads"]
    channels = config.get("head_dim", config["hidden_size"] // n)
    freqs = frequencies(config, channels)
    xs = [model.row("model.embed_tokens.weight", t) for t in tokens]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        normed = [model.rms_norm(at + "input_layernorm", x) for x in xs]
        q = heads_of([model.linear(at + "self_attn.q_proj", x) for x in normed], n)
        k = heads_of([model.linear(at + "self_attn.k_proj", x) for x in normed], g)
        v = heads_of([model.linear(at + "self_attn.v_proj", x) for x in normed], g)
        q, k = ([[rotated(x, i, freqs) for i, x in enumerate(head)] for head in heads] for heads in (q, k))
        mixed = joined([attend(q[i], k[i * g // n], v[i * g // n]) for i in range(n)])
        xs = [add(x, model.linear(at + "self_attn.o_proj", y)) for x, y in zip(xs, mixed)]
        for i, x in enumerate(xs):
            y = model.rms_norm(at + "post_attention_layernorm", x)
            gate, up = model.linear(at + "mlp.gate_proj", y), model.linear(at + "mlp.up_proj", y)
            xs[i] = add(x, model.linear(at + "mlp.down_proj", [a / (1 + math.exp(-a)) * b for a, b in zip(gate, up)]))
    output = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    xs = [model.rms_norm("model.norm", x) for x in xs]
    return [[sum(a * b for a, b in zip(x, model.row(output, t))) for t in range(config["vocab_size"])] for x in xs]


def gpt2():
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": VOCAB, "n_embd": HIDDEN, "n_layer": LAYERS,
              "n_head": HEADS, "n_positions": POSITIONS, "n_inner": FFN, "activation_function": "gelu_new",
              "layer_norm_epsilon": 1e-05, "eos_token_id": 60, "tie_word_embeddings": True, "torch_dtype": "float32"}
    tensors = {"transformer.wte.weight": [VOCAB, HIDDEN], "transformer.wpe.weight": [POSITIONS, HIDDEN],
               "transformer.ln_f.weight": [HIDDEN], "transformer.ln_f.bias": [HIDDEN]}
    for layer in range(LAYERS):
        at = f"transformer.h.{layer}."
        for name, fan_in, fan_out in (("attn.c_attn", HIDDEN, 3 * HIDDEN), ("attn.c_proj", HIDDEN, HIDDEN), ("mlp.c_fc", HIDDEN, FFN),
                                      ("mlp.c_proj", FFN, HIDDEN)):
            tensors[at + name + ".weight"], tensors[at + name + ".bias"] = [fan_in, fan_out], [fan_out]
        for name in ("ln_1", "ln_2"):
            tensors[at + name + ".weight"], tensors[at + name + ".bias"] = [HIDDEN], [HIDDEN]
    return config, tensors


def llama(model_type, architecture, groups, more):
    config = {"model_type": model_type, "architectures": [architecture], "vocab_size": VOCAB, "hidden_size": HIDDEN,
              "intermediate_size": FFN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": groups,
              "max_position_embeddings": POSITIONS, "rms_norm_eps": 1e-06, "hidden_act": "silu", "rope_theta": 10000.0,
              "tie_word_embeddings": False, "bos_token_id": 1, "torch_dtype": "float32"}
    config.update(more)
    channels = config.get("head_dim", HIDDEN // HEADS)
    tensors = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN]}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for name, rows in (("q", HEADS), ("k", groups), ("v", groups)):
            tensors[f"{at}self_attn.{name}_proj.weight"] = [rows * channels, HIDDEN]
            if model_type == "qwen2":
                tensors[f"{at}self_attn.{name}_proj.bias"] = [rows * channels]
        tensors[at + "self_attn.o_proj.weight"] = [HIDDEN, HEADS * channels]
        tensors[at + "mlp.gate_proj.weight"] = tensors[at + "mlp.up_proj.weight"] = [FFN, HIDDEN]
        tensors[at + "mlp.down_proj.weight"] = [HIDDEN, FFN]
        tensors[at + "input_layernorm.weight"] = tensors[at + "post_attention_layernorm.weight"] = [HIDDEN]
    if not config["tie_word_embeddings"]:
        tensors["lm_head.weight"] = [VOCAB, HIDDEN]
    return config, tensors


def main():
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 8192}
    models = {
        "gpt2": gpt2(),
        "llama": llama("llama", "LlamaForCausalLM", 2, {"head_dim": 8, "rope_theta": 500000.0, "rope_scaling": scaling}),
        "mistral": llama("mistral", "MistralForCausalLM", 1, {"sliding_window": 4096}),
        "qwen2": llama("qwen2", "Qwen2ForCausalLM", 4, {"tie_word_embeddings": True, "rope_theta": 1000000.0,
                                                        "use_sliding_window": False, "sliding_window": 8}),
    }
    result = {}
    for name, (config, tensors) in models.items():
        logits = (gpt2_logits if name == "gpt2" else llama_logits)(Model(config, tensors), TOKENS)
        result[name] = {"config": config, "tensors": tensors, "tokens": TOKENS,
                        "logits": [[round(x, 7) for x in row] for row in logits]}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in result.items())
    print("{\n" + rows + "\n}")


if __name__ == "__main__":
    main()
