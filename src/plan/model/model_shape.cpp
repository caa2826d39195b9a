#include "plan/model/model_shape.h"

#include <array>

#include "utils/error.h"

namespace mpitron::plan {
namespace {

struct NamedFormula {
  const char* name;
  FlopsFormula formula;
};
constexpr std::array<NamedFormula, 4> kFormulas = {{{"megatron", FlopsFormula::megatron},
                                                    {"full", FlopsFormula::full},
                                                    {"hardware", FlopsFormula::hardware},
                                                    {"6N", FlopsFormula::six_n}}};

double latent_parameters(const ModelShape& model) {
  const LatentAttention mla;
  const double h = model.hidden, n = model.heads, nope = model.head_dim - mla.rotary;
  return h * (mla.query_rank + mla.kv_rank + mla.rotary) + mla.query_rank * n * model.head_dim +
         mla.kv_rank * n * (nope + mla.value) + n * mla.value * h;
}

}  // namespace

double attention_parameters(const ModelShape& model) {
  if (model.latent_attention) {
    return latent_parameters(model);
  }
  return 2.0 * model.hidden * model.head_dim * (model.heads + model.kv_heads);
}

double dense_ffn_parameters(const ModelShape& model) {
  return model.matrices_of_ffn() * model.hidden * model.ffn;
}

double shared_moe_parameters(const ModelShape& model) {
  return model.matrices_of_ffn() * model.hidden * model.shared_ffn +
         static_cast<double>(model.hidden) * model.experts;
}

double expert_parameters(const ModelShape& model) {
  return model.matrices_of_ffn() * model.hidden * model.moe_ffn * model.experts;
}

double total_parameters(const ModelShape& model) {
  const double dense = model.experts > 0 ? model.dense_layers : model.layers;
  const double moe = model.layers - dense;
  return model.layers * attention_parameters(model) + dense * dense_ffn_parameters(model) +
         moe * (shared_moe_parameters(model) + expert_parameters(model)) +
         (model.tied ? 1.0 : 2.0) * model.vocab * model.hidden;
}

double active_parameters(const ModelShape& model) {
  if (model.experts == 0) {
    return total_parameters(model);
  }
  const double idle = 1 - static_cast<double>(model.top_k) / model.experts;
  return total_parameters(model) -
         (model.layers - model.dense_layers) * expert_parameters(model) * idle;
}

FlopsFormula flops_formula(const std::string& name) {
  for (const NamedFormula& formula : kFormulas) {
    if (name == formula.name) {
      return formula.formula;
    }
  }
  throw_usage("--flops-formula {}: one of megatron, full, hardware, 6N is expected", name);
}

const char* to_string(FlopsFormula formula) {
  return kFormulas[static_cast<std::size_t>(formula)].name;
}

double step_flops(const ModelShape& model, FlopsFormula formula, double sequence,
                  double sequences) {
  const double tokens = sequence * sequences;
  if (formula == FlopsFormula::six_n) {
    return 6 * active_parameters(model) * tokens;
  }
  const double embedding = static_cast<double>(model.vocab) * model.hidden;
  const double matrices = active_parameters(model) - (model.tied ? 1 : 2) * embedding;
  const double causal = formula == FlopsFormula::megatron ? 0.5 : 1;
  const double scores = 4.0 * sequence * model.heads * model.head_dim * causal * model.layers;
  const double passes = formula == FlopsFormula::hardware ? 4 : 3;
  return tokens * (passes * (2 * matrices + scores) + 3 * 2 * embedding);
}

}  // namespace mpitron::plan
