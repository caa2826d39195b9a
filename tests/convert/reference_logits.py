#!/usr/bin/env python3
"""Writes reference_logits.json: logits of eight tiny models in Hugging Face's layout.

usage: reference_logits.py > reference_logits.json

An implementation of its own of GPT-2, Llama (3.1's rotary scaling, head_dim of its own), Mistral, Qwen2, Mixtral,
DeepSeek-V2 (YaRN), Megatron's BERT and T5 (as UL2), written from the papers and the definitions of config.json, in double
precision and plain Python; nothing of mpitron is used. T5's decoder reads the tokens that its encoder reads; BERT's
tokens are two parts of the same length. The weights are a function of name and index (see `value`), so that a test can
make the same files:
    tests/convert/tiny_models.h
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
        epsilon = self.config.get("layer_norm_epsilon", self.config.get("layer_norm_eps"))
        scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + epsilon)
        return [(v - mean) * scale * g + b for v, g, b in zip(x, self.vector(prefix + ".weight"), self.vector(prefix + ".bias"))]

    def rms_norm(self, name, x):
        epsilon = self.config.get("rms_norm_eps", self.config.get("layer_norm_epsilon"))
        scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + epsilon)
        return [v * scale * g for v, g in zip(x, self.vector(name + ".weight"))]


def add(x, y):
    return [a + b for a, b in zip(x, y)]


def attend(queries, keys, values, scale=None, causal=True, bias=lambda distance: 0):
    """Attention of one head: lists over positions; the bias is of the distance from query to key."""
    out = []
    for i, q in enumerate(queries):
        factor = 1 / math.sqrt(len(q)) if scale is None else scale
        seen = range(i + 1) if causal else range(len(keys))
        scores = [sum(a * b for a, b in zip(q, keys[j])) * factor + bias(j - i) for j in seen]
        largest = max(scores)
        weights = [math.exp(s - largest) for s in scores]
        total = sum(weights)
        out.append([sum(w * values[j][c] for j, w in enumerate(weights)) / total for c in range(len(values[0]))])
    return out


def heads_of(rows, count):
    """[position][head * channel] -> [head][position][channel]."""
    width = len(rows[0]) // count
    return [[row[h * width:(h + 1) * width] for row in rows] for h in range(count)]


def joined(heads):
    return [sum((head[i] for head in heads), []) for i in range(len(heads[0]))]


def gelu_new(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def silu(x):
    return x / (1 + math.exp(-x))


def softmax(xs):
    largest = max(xs)
    weights = [math.exp(x - largest) for x in xs]
    return [w / sum(weights) for w in weights]


def scores(model, name, x):
    return [sum(a * b for a, b in zip(x, model.row(name, t))) for t in range(model.config["vocab_size"])]


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
    return [scores(model, "transformer.wte.weight", x) for x in xs]


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


def gated_mlp(model, prefix, x, names=("gate_proj", "up_proj", "down_proj")):
    gate, up = model.linear(f"{prefix}.{names[0]}", x), model.linear(f"{prefix}.{names[1]}", x)
    return model.linear(f"{prefix}.{names[2]}", [silu(a) * b for a, b in zip(gate, up)])


def llama_attention(model, at, normed):
    config = model.config
    n, g = config["num_attention_heads"], config["num_key_value_heads"]
    freqs = frequencies(config, config.get("head_dim", config["hidden_size"] // n))
    q = heads_of([model.linear(at + "self_attn.q_proj", x) for x in normed], n)
    k = heads_of([model.linear(at + "self_attn.k_proj", x) for x in normed], g)
    v = heads_of([model.linear(at + "self_attn.v_proj", x) for x in normed], g)
    q, k = ([[rotated(x, i, freqs) for i, x in enumerate(head)] for head in heads] for heads in (q, k))
    return joined([attend(q[i], k[i * g // n], v[i * g // n]) for i in range(n)])


def llama_mlp(model, layer, x):
    return gated_mlp(model, f"model.layers.{layer}.mlp", x)


def chosen(values, count):
    return sorted(range(len(values)), key=lambda i: -values[i])[:count]


def mixtral_mlp(model, layer, x):
    """Softmax over the chosen experts' logits."""
    at = f"model.layers.{layer}.block_sparse_moe"
    logits = model.linear(at + ".gate", x)
    experts = chosen(logits, model.config["num_experts_per_tok"])
    out = [0] * len(x)
    for weight, expert in zip(softmax([logits[e] for e in experts]), experts):
        y = gated_mlp(model, f"{at}.experts.{expert}", x, ("w1", "w3", "w2"))
        out = [a + weight * b for a, b in zip(out, y)]
    return out


def deepseek_mlp(model, layer, x):
    """Softmax over all experts' logits; the chosen ones' do not add up to 1."""
    config, at = model.config, f"model.layers.{layer}.mlp"
    if layer < config["first_k_dense_replace"]:
        return gated_mlp(model, at, x)
    probabilities = softmax(model.linear(at + ".gate", x))
    out = gated_mlp(model, at + ".shared_experts", x)
    for expert in chosen(probabilities, config["num_experts_per_tok"]):
        y = gated_mlp(model, f"{at}.experts.{expert}", x)
        out = [a + config["routed_scaling_factor"] * probabilities[expert] * b for a, b in zip(out, y)]
    return out


def yarn(config, channels):
    """Frequencies, and the factor on cosines and sines and that on scores (Peng et al. 2023)."""
    rope, base = config["rope_scaling"], config["rope_theta"]
    factor, positions = rope["factor"], rope["original_max_position_embeddings"]

    def dimension(rotations):
        return channels * math.log(positions / (rotations * 2 * math.pi)) / (2 * math.log(base))

    def scale(mscale):
        return 0.1 * mscale * math.log(factor) + 1

    low = max(math.floor(dimension(rope["beta_fast"])), 0)
    high = min(math.ceil(dimension(rope["beta_slow"])), channels - 1)
    freqs = []
    for i in range(channels // 2):
        plain = base ** (-2 * i / channels)
        stretched = min(max((i - low) / (high - low if high > low else 0.001), 0), 1)
        freqs.append(plain * (1 - stretched) + plain / factor * stretched)
    return freqs, scale(rope["mscale"]) / scale(rope["mscale_all_dim"]), scale(rope["mscale_all_dim"]) ** 2


def rotated_pairs(x, position, freqs, factor):
    """Neighbours are turned against each other."""
    out = list(x)
    for i, f in enumerate(freqs):
        c, s = factor * math.cos(position * f), factor * math.sin(position * f)
        out[2 * i], out[2 * i + 1] = x[2 * i] * c - x[2 * i + 1] * s, x[2 * i + 1] * c + x[2 * i] * s
    return out


def latent_attention(model, at, normed):
    config = model.config
    n, plain, rope = config["num_attention_heads"], config["qk_nope_head_dim"], config["qk_rope_head_dim"]
    rank = config["kv_lora_rank"]
    freqs, factor, stretch = yarn(config, rope)
    queries, keys, values = ([[] for _ in range(n)] for _ in range(3))
    for i, x in enumerate(normed):
        latent = model.rms_norm(at + "self_attn.q_a_layernorm", model.linear(at + "self_attn.q_a_proj", x))
        q = model.linear(at + "self_attn.q_b_proj", latent)
        down = model.linear(at + "self_attn.kv_a_proj_with_mqa", x)
        shared = rotated_pairs(down[rank:], i, freqs, factor)
        up = model.linear(at + "self_attn.kv_b_proj", model.rms_norm(at + "self_attn.kv_a_layernorm", down[:rank]))
        for head in range(n):
            own = q[head * (plain + rope):(head + 1) * (plain + rope)]
            kv = up[head * len(up) // n:(head + 1) * len(up) // n]
            queries[head].append(own[:plain] + rotated_pairs(own[plain:], i, freqs, factor))
            keys[head].append(kv[:plain] + shared)
            values[head].append(kv[plain:])
    scale = stretch / math.sqrt(plain + rope)
    return joined([attend(queries[i], keys[i], values[i], scale) for i in range(n)])


def decoder_logits(model, tokens, attention, mlp):
    """Llama's skeleton."""
    config = model.config
    xs = [model.row("model.embed_tokens.weight", t) for t in tokens]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        mixed = attention(model, at, [model.rms_norm(at + "input_layernorm", x) for x in xs])
        xs = [add(x, model.linear(at + "self_attn.o_proj", y)) for x, y in zip(xs, mixed)]
        xs = [add(x, mlp(model, layer, model.rms_norm(at + "post_attention_layernorm", x))) for x in xs]
    output = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    return [scores(model, output, model.rms_norm("model.norm", x)) for x in xs]


def llama_logits(model, tokens):
    return decoder_logits(model, tokens, llama_attention, llama_mlp)


def mixtral_logits(model, tokens):
    return decoder_logits(model, tokens, llama_attention, mixtral_mlp)


def deepseek_logits(model, tokens):
    return decoder_logits(model, tokens, latent_attention, deepseek_mlp)


def bert_logits(model, tokens):
    n = model.config["num_attention_heads"]
    at = "bert.embeddings."
    xs = [add(add(model.row(at + "word_embeddings.weight", t), model.row(at + "position_embeddings.weight", i)),
              model.row(at + "token_type_embeddings.weight", 2 * i // len(tokens))) for i, t in enumerate(tokens)]
    for layer in range(model.config["num_hidden_layers"]):
        at = f"bert.encoder.layer.{layer}."
        normed = [model.layer_norm(at + "attention.ln", x) for x in xs]
        q, k, v = (heads_of([model.linear(f"{at}attention.self.{name}", x) for x in normed], n)
                   for name in ("query", "key", "value"))
        mixed = joined([attend(q[i], k[i], v[i], causal=False) for i in range(n)])
        xs = [add(x, model.linear(at + "attention.output.dense", y)) for x, y in zip(xs, mixed)]
        for i, x in enumerate(xs):
            inner = [gelu(v) for v in model.linear(at + "intermediate.dense", model.layer_norm(at + "ln", x))]
            xs[i] = add(x, model.linear(at + "output.dense", inner))
    out = []
    for x in xs:
        inner = [gelu(v) for v in model.linear("cls.predictions.transform.dense", model.layer_norm("bert.encoder.ln", x))]
        inner = model.layer_norm("cls.predictions.transform.LayerNorm", inner)
        out.append(add(scores(model, "bert.embeddings.word_embeddings.weight", inner), model.vector("cls.predictions.bias")))
    return out


def bucket(distance, config, bidirectional):
    """Of a key so many positions behind its query (Raffel et al. 2020)."""
    count, first = config["relative_attention_num_buckets"], 0
    if bidirectional:
        count //= 2
        first = count if distance > 0 else 0
    n = abs(distance) if bidirectional else max(-distance, 0)
    exact = count // 2
    if n < exact:
        return first + n
    ratio = math.log(n / exact) / math.log(config["relative_attention_max_distance"] / exact)
    return first + min(exact + int(ratio * (count - exact)), count - 1)


def t5_attention(model, at, xs, others, bias_of=None, causal=False):
    n = model.config["num_heads"]
    q = heads_of([model.linear(at + ".q", x) for x in xs], n)
    k, v = (heads_of([model.linear(f"{at}.{name}", x) for x in others], n) for name in ("k", "v"))
    heads = [attend(q[i], k[i], v[i], 1, causal, (lambda d, i=i: bias_of(d)[i]) if bias_of else lambda d: 0) for i in range(n)]
    return [model.linear(at + ".o", y) for y in joined(heads)]


def t5_stack(model, stack, tokens, encoded=None):
    def bias_of(distance):
        table = stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        return model.row(table, bucket(distance, model.config, encoded is None))

    xs = [model.row("shared.weight", t) for t in tokens]
    for layer in range(model.config["num_layers"]):
        at = f"{stack}.block.{layer}.layer."
        normed = [model.rms_norm(at + "0.layer_norm", x) for x in xs]
        xs = [add(x, y) for x, y in zip(xs, t5_attention(model, at + "0.SelfAttention", normed, normed, bias_of, encoded is not None))]
        if encoded is not None:
            normed = [model.rms_norm(at + "1.layer_norm", x) for x in xs]
            xs = [add(x, y) for x, y in zip(xs, t5_attention(model, at + "1.EncDecAttention", normed, encoded))]
        at += "1" if encoded is None else "2"
        xs = [add(x, gated_mlp(model, at + ".DenseReluDense", model.rms_norm(at + ".layer_norm", x), ("wi_0", "wi_1", "wo"))) for x in xs]
    return [model.rms_norm(stack + ".final_layer_norm", x) for x in xs]


def t5_logits(model, tokens):
    encoded = t5_stack(model, "encoder", tokens)
    return [scores(model, "lm_head.weight", x) for x in t5_stack(model, "decoder", tokens, encoded)]


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


def mixtral():
    config, tensors = llama("mixtral", "MixtralForCausalLM", 2, {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None})
    tensors = {name: shape for name, shape in tensors.items() if ".mlp." not in name}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}.block_sparse_moe."
        tensors[at + "gate.weight"] = [4, HIDDEN]
        for expert in range(4):
            tensors[f"{at}experts.{expert}.w1.weight"] = tensors[f"{at}experts.{expert}.w3.weight"] = [FFN, HIDDEN]
            tensors[f"{at}experts.{expert}.w2.weight"] = [HIDDEN, FFN]
    return config, tensors


def deepseek():
    rank, q_rank, plain, rope, width, ffn = 10, 12, 6, 4, 8, 10
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1,
               "mscale": 0.707, "mscale_all_dim": 0.5}
    config, tensors = llama("deepseek_v2", "DeepseekV2ForCausalLM", HEADS, {
        "kv_lora_rank": rank, "q_lora_rank": q_rank, "qk_nope_head_dim": plain, "qk_rope_head_dim": rope, "v_head_dim": width,
        "n_routed_experts": 4, "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": ffn,
        "first_k_dense_replace": 1, "routed_scaling_factor": 1.5, "norm_topk_prob": False, "topk_method": "greedy",
        "rope_scaling": scaling})
    kept = ("layernorm", "embed_tokens", "norm.weight", "lm_head", "layers.0.mlp")
    tensors = {name: shape for name, shape in tensors.items() if any(part in name for part in kept)}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}.self_attn."
        tensors[at + "q_a_proj.weight"], tensors[at + "q_a_layernorm.weight"] = [q_rank, HIDDEN], [q_rank]
        tensors[at + "q_b_proj.weight"] = [HEADS * (plain + rope), q_rank]
        tensors[at + "kv_a_proj_with_mqa.weight"], tensors[at + "kv_a_layernorm.weight"] = [rank + rope, HIDDEN], [rank]
        tensors[at + "kv_b_proj.weight"] = [HEADS * (plain + width), rank]
        tensors[at + "o_proj.weight"] = [HIDDEN, HEADS * width]
    at = "model.layers.1.mlp."
    tensors[at + "gate.weight"] = [4, HIDDEN]
    for expert, size in [("shared_experts", 2 * ffn)] + [(f"experts.{i}", ffn) for i in range(4)]:
        tensors[f"{at}{expert}.gate_proj.weight"] = tensors[f"{at}{expert}.up_proj.weight"] = [size, HIDDEN]
        tensors[f"{at}{expert}.down_proj.weight"] = [HIDDEN, size]
    return config, tensors


def megatron_bert():
    config = {"model_type": "megatron-bert", "architectures": ["MegatronBertForPreTraining"], "vocab_size": VOCAB, "hidden_size": HIDDEN,
              "intermediate_size": FFN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "hidden_act": "gelu",
              "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": 1e-05, "torch_dtype": "float32"}
    shapes = {"bert.embeddings.word_embeddings": [VOCAB, HIDDEN], "bert.embeddings.position_embeddings": [POSITIONS, HIDDEN],
              "bert.embeddings.token_type_embeddings": [2, HIDDEN]}
    tensors = {name + ".weight": shape for name, shape in shapes.items()}

    def linear(name, fan_out, fan_in):
        tensors[name + ".weight"], tensors[name + ".bias"] = [fan_out, fan_in], [fan_out]

    def norm(name):
        tensors[name + ".weight"], tensors[name + ".bias"] = [HIDDEN], [HIDDEN]

    for layer in range(LAYERS):
        at = f"bert.encoder.layer.{layer}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            linear(at + "attention." + name, HIDDEN, HIDDEN)
        linear(at + "intermediate.dense", FFN, HIDDEN)
        linear(at + "output.dense", HIDDEN, FFN)
        norm(at + "attention.ln")
        norm(at + "ln")
    for name in ("bert.pooler.dense", "cls.predictions.transform.dense"):
        linear(name, HIDDEN, HIDDEN)
    norm("bert.encoder.ln")
    norm("cls.predictions.transform.LayerNorm")
    linear("cls.seq_relationship", 2, HIDDEN)
    tensors["cls.predictions.bias"] = [VOCAB]
    return config, tensors


def t5():
    width, buckets = 4, 8
    config = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": VOCAB, "d_model": HIDDEN, "d_ff": FFN,
              "d_kv": width, "num_heads": HEADS, "num_layers": LAYERS, "num_decoder_layers": LAYERS, "n_positions": POSITIONS,
              "feed_forward_proj": "gated-silu", "relative_attention_num_buckets": buckets, "relative_attention_max_distance": 6,
              "layer_norm_epsilon": 1e-06, "dropout_rate": 0.1, "tie_word_embeddings": False, "torch_dtype": "float32"}
    tensors = {"shared.weight": [VOCAB, HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for stack, parts in (("encoder", ("SelfAttention", "DenseReluDense")), ("decoder", ("SelfAttention", "EncDecAttention", "DenseReluDense"))):
        tensors[stack + ".final_layer_norm.weight"] = [HIDDEN]
        tensors[stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = [buckets, HEADS]
        for layer in range(LAYERS):
            for number, part in enumerate(parts):
                at = f"{stack}.block.{layer}.layer.{number}."
                tensors[at + "layer_norm.weight"] = [HIDDEN]
                if part == "DenseReluDense":
                    tensors[at + part + ".wi_0.weight"] = tensors[at + part + ".wi_1.weight"] = [FFN, HIDDEN]
                    tensors[at + part + ".wo.weight"] = [HIDDEN, FFN]
                else:
                    for name in "qkv":
                        tensors[f"{at}{part}.{name}.weight"] = [HEADS * width, HIDDEN]
                    tensors[f"{at}{part}.o.weight"] = [HIDDEN, HEADS * width]
    return config, tensors


def main():
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 8192}
    models = {
        "gpt2": (gpt2_logits, *gpt2()),
        "llama": (llama_logits, *llama("llama", "LlamaForCausalLM", 2, {"head_dim": 8, "rope_theta": 500000.0, "rope_scaling": scaling})),
        "mistral": (llama_logits, *llama("mistral", "MistralForCausalLM", 1, {"sliding_window": 4096})),
        "qwen2": (llama_logits, *llama("qwen2", "Qwen2ForCausalLM", 4, {"tie_word_embeddings": True, "rope_theta": 1000000.0,
                                                        "use_sliding_window": False, "sliding_window": 8})),
        "mixtral": (mixtral_logits, *mixtral()),
        "deepseek_v2": (deepseek_logits, *deepseek()),
        "megatron-bert": (bert_logits, *megatron_bert()),
        "t5": (t5_logits, *t5()),
    }
    result = {}
    for name, (logits_of, config, tensors) in models.items():
        logits = logits_of(Model(config, tensors), TOKENS)
        result[name] = {"config": config, "tensors": tensors, "tokens": TOKENS,
                        "logits": [[round(x, 7) for x in row] for row in logits]}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in result.items())
    print("{\n" + rows + "\n}")


if __name__ == "__main__":
    main()
