#include "convert/names/name_families.h"

// Tables of names of Megatron-BERT and T5: what each of our parameters is called there, and in
// which order its rows stand.

namespace mpitron::convert {
namespace {

using enum Extent;

constexpr Entry kBertStart[] = {
    padded("embedding.word_embeddings.weight", hidden, "bert.embeddings.word_embeddings.weight"),
    matrix("embedding.position_embeddings.weight", positions, hidden,
           "bert.embeddings.position_embeddings.weight"),
    matrix("embedding.tokentype_embeddings.weight", two, hidden,
           "bert.embeddings.token_type_embeddings.weight"),
};

constexpr Entry kBertLayer[] = {
    vector("encoder.layers.{}.input_layernorm.weight", hidden,
           "bert.encoder.layer.{}.attention.ln.weight"),
    vector("encoder.layers.{}.input_layernorm.bias", hidden,
           "bert.encoder.layer.{}.attention.ln.bias"),
    joined("encoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"bert.encoder.layer.{}.attention.self.query.weight", queries},
             {"bert.encoder.layer.{}.attention.self.key.weight", keys},
             {"bert.encoder.layer.{}.attention.self.value.weight", keys}}})
        .ordered(Rows::query_groups),
    joined("encoder.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"bert.encoder.layer.{}.attention.self.query.bias", queries},
             {"bert.encoder.layer.{}.attention.self.key.bias", keys},
             {"bert.encoder.layer.{}.attention.self.value.bias", keys}}})
        .ordered(Rows::query_groups),
    matrix("encoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "bert.encoder.layer.{}.attention.output.dense.weight"),
    vector("encoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "bert.encoder.layer.{}.attention.output.dense.bias"),
    vector("encoder.layers.{}.pre_mlp_layernorm.weight", hidden, "bert.encoder.layer.{}.ln.weight"),
    vector("encoder.layers.{}.pre_mlp_layernorm.bias", hidden, "bert.encoder.layer.{}.ln.bias"),
    matrix("encoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "bert.encoder.layer.{}.intermediate.dense.weight"),
    vector("encoder.layers.{}.mlp.linear_fc1.bias", ffn,
           "bert.encoder.layer.{}.intermediate.dense.bias"),
    matrix("encoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "bert.encoder.layer.{}.output.dense.weight"),
    vector("encoder.layers.{}.mlp.linear_fc2.bias", hidden,
           "bert.encoder.layer.{}.output.dense.bias"),
};

constexpr Entry kBertEnd[] = {
    vector("encoder.final_layernorm.weight", hidden, "bert.encoder.ln.weight"),
    vector("encoder.final_layernorm.bias", hidden, "bert.encoder.ln.bias"),
    matrix("pooler.dense.weight", hidden, hidden, "bert.pooler.dense.weight"),
    vector("pooler.dense.bias", hidden, "bert.pooler.dense.bias"),
    matrix("lm_head.dense.weight", hidden, hidden, "cls.predictions.transform.dense.weight"),
    vector("lm_head.dense.bias", hidden, "cls.predictions.transform.dense.bias"),
    vector("lm_head.layer_norm.weight", hidden, "cls.predictions.transform.LayerNorm.weight"),
    vector("lm_head.layer_norm.bias", hidden, "cls.predictions.transform.LayerNorm.bias"),
    padded("output_layer.bias", none, "cls.predictions.bias"),
    matrix("binary_head.weight", two, hidden, "cls.seq_relationship.weight"),
    vector("binary_head.bias", two, "cls.seq_relationship.bias"),
};

constexpr Entry kT5Start[] = {
    padded("embedding.word_embeddings.weight", hidden, "shared.weight"),
    matrix("encoder_relative_pos_emb.relative_attention_bias.weight", buckets, heads,
           "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
    matrix("decoder_relative_pos_emb.relative_attention_bias.weight", buckets, heads,
           "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
};

constexpr Entry kT5Encoder[] = {
    vector("encoder.layers.{}.input_layernorm.weight", hidden,
           "encoder.block.{}.layer.0.layer_norm.weight"),
    joined("encoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"encoder.block.{}.layer.0.SelfAttention.q.weight", queries, Factor::sqrt_channels},
             {"encoder.block.{}.layer.0.SelfAttention.k.weight", keys},
             {"encoder.block.{}.layer.0.SelfAttention.v.weight", keys}}})
        .ordered(Rows::query_groups),
    matrix("encoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "encoder.block.{}.layer.0.SelfAttention.o.weight"),
    vector("encoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "encoder.block.{}.layer.1.layer_norm.weight"),
    joined("encoder.layers.{}.mlp.linear_fc1.weight", fc1, hidden,
           {{{"encoder.block.{}.layer.1.DenseReluDense.wi_0.weight", ffn},
             {"encoder.block.{}.layer.1.DenseReluDense.wi_1.weight", ffn}}}),
    matrix("encoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "encoder.block.{}.layer.1.DenseReluDense.wo.weight"),
};

constexpr Entry kT5Decoder[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden,
           "decoder.block.{}.layer.0.layer_norm.weight"),
    joined("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"decoder.block.{}.layer.0.SelfAttention.q.weight", queries, Factor::sqrt_channels},
             {"decoder.block.{}.layer.0.SelfAttention.k.weight", keys},
             {"decoder.block.{}.layer.0.SelfAttention.v.weight", keys}}})
        .ordered(Rows::query_groups),
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "decoder.block.{}.layer.0.SelfAttention.o.weight"),
    vector("decoder.layers.{}.pre_cross_attn_layernorm.weight", hidden,
           "decoder.block.{}.layer.1.layer_norm.weight"),
    joined(
        "decoder.layers.{}.cross_attention.linear_q.weight", queries, hidden,
        {{{"decoder.block.{}.layer.1.EncDecAttention.q.weight", queries, Factor::sqrt_channels}}}),
    joined("decoder.layers.{}.cross_attention.linear_kv.weight", kv, hidden,
           {{{"decoder.block.{}.layer.1.EncDecAttention.k.weight", keys},
             {"decoder.block.{}.layer.1.EncDecAttention.v.weight", keys}}})
        .ordered(Rows::key_values),
    matrix("decoder.layers.{}.cross_attention.linear_proj.weight", hidden, queries,
           "decoder.block.{}.layer.1.EncDecAttention.o.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "decoder.block.{}.layer.2.layer_norm.weight"),
    joined("decoder.layers.{}.mlp.linear_fc1.weight", fc1, hidden,
           {{{"decoder.block.{}.layer.2.DenseReluDense.wi_0.weight", ffn},
             {"decoder.block.{}.layer.2.DenseReluDense.wi_1.weight", ffn}}}),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "decoder.block.{}.layer.2.DenseReluDense.wo.weight"),
};

constexpr Entry kT5End[] = {
    vector("encoder.final_layernorm.weight", hidden, "encoder.final_layer_norm.weight"),
    vector("decoder.final_layernorm.weight", hidden, "decoder.final_layer_norm.weight"),
    padded("output_layer.weight", hidden, "lm_head.weight"),
    // Ours has a bias there and theirs has none: zero on the way in, and required to be zero on the
    // way out.
    joined("lm_head.output_layer.bias", padded_vocabulary, none, {}),
};

constexpr EntryBlock kBert[] = {kBertStart, kBertLayer, kBertEnd};
constexpr EntryBlock kT5[] = {kT5Start, kT5Encoder, kT5Decoder, kT5End};

}  // namespace

std::span<const EntryBlock> megatron_bert_names() {
  return kBert;
}

std::span<const EntryBlock> t5_names() {
  return kT5;
}

}  // namespace mpitron::convert
