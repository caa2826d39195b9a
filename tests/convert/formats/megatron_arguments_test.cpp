#include <deque>

#include <gtest/gtest.h>

#include "convert/formats/megatron_names.h"
#include "support/corpus.h"

namespace mpitron::convert {
namespace megatron_arguments_test {

using Value = io::PickleValue;
using Kind = Value::Kind;

/// Arguments as torch stores them.
class Arguments {
 public:
  Arguments() { dict_.kind = Kind::dict; }
  Arguments& number(std::string_view name, std::int64_t number) {
    return add(name, {.kind = Kind::integer, .integer = number});
  }
  Arguments& yes(std::string_view name) { return add(name, {.kind = Kind::boolean, .integer = 1}); }
  Arguments& text(std::string_view name, std::string_view text) {
    return add(name, {.kind = Kind::text, .text = text});
  }
  std::string problem() const {
    return test::message_of([this] { read_megatron_arguments(dict_, "model", true); });
  }

 private:
  Arguments& add(std::string_view name, const Value& value) {
    dict_.entries.push_back(&values_.emplace_back(Value{.kind = Kind::text, .text = name}));
    dict_.entries.push_back(&values_.emplace_back(value));
    return *this;
  }

  std::deque<Value> values_;
  Value dict_;
};

TEST(MegatronArguments, NormsOfDeltaNetsAroundZeroAreRefused) {
  Arguments arguments;
  arguments.number("num_layers", 2).number("hidden_size", 32).number("num_attention_heads", 4);
  arguments.number("seq_length", 16).number("max_position_embeddings", 16);
  arguments.number("padded_vocab_size", 64).text("normalization", "RMSNorm");
  arguments.yes("swiglu").yes("apply_layernorm_1p");
  EXPECT_EQ(arguments.problem(), "");
  arguments.text("experimental_attention_variant", "gated_delta_net");
  arguments.number("linear_attention_freq", 2);
  EXPECT_NE(arguments.problem().find("--apply-layernorm-1p"), std::string::npos)
      << arguments.problem();
}

}  // namespace megatron_arguments_test
}  // namespace mpitron::convert
