#include "tokenizers/hugging_face/hf_steps.h"

// The post-processors of a tokenizer.json, reduced to what a single text gets: ids in front and
// behind. Pairs of texts are not encoded here.

namespace mpitron::tokenizers {
namespace {

/// Reads the template "single": special tokens and, once, the sequence A.
HfPostProcessor make_template(const JsonView& spec) {
  HfPostProcessor result;
  bool behind = false;
  spec.at("single").for_elements([&](const JsonView& part) {
    if (part.has("Sequence")) {
      if (behind || part.at("Sequence").at("id").text() != "A") {
        part.refuse("the template of a single text has the sequence A once");
      }
      behind = true;
      return;
    }
    const std::string name = part.at("SpecialToken").at("id").text();
    spec.at("special_tokens").at(name.c_str()).at("ids").for_elements([&](const JsonView& id) {
      (behind ? result.after : result.before).push_back(static_cast<TokenId>(id.integer()));
    });
  });
  return result;
}

/// Reads BertProcessing and RobertaProcessing: [token, id] for both ends.
HfPostProcessor make_pair_of_ends(const JsonView& spec) {
  return {{static_cast<TokenId>(spec.at("cls").at(1).integer())},
          {static_cast<TokenId>(spec.at("sep").at(1).integer())}};
}

/// Later processors put their ids outside those of earlier ones.
HfPostProcessor make_processor_sequence(const JsonView& spec) {
  HfPostProcessor all;
  spec.at("processors").for_elements([&](const JsonView& element) {
    const HfPostProcessor next = make_hf_post_processor(element);
    all.before.insert(all.before.begin(), next.before.begin(), next.before.end());
    all.after.insert(all.after.end(), next.after.begin(), next.after.end());
  });
  return all;
}

}  // namespace

HfPostProcessor make_hf_post_processor(const JsonView& spec) {
  if (spec.is_null()) {
    return {};
  }
  const std::string type = spec.at("type").text();
  if (type == "ByteLevel") {
    return {};  // moves offsets only
  }
  if (type == "TemplateProcessing") {
    return make_template(spec);
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return make_pair_of_ends(spec);
  }
  if (type == "Sequence") {
    return make_processor_sequence(spec);
  }
  spec.at("type").refuse(
      "this post-processor is not supported; supported are ByteLevel, TemplateProcessing, "
      "BertProcessing, RobertaProcessing, Sequence");
}

}  // namespace mpitron::tokenizers
