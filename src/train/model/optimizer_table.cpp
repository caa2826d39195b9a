// Writes which update rule takes which parameters of the whole model, layers and experts under one
// name.
#include "train/model/optimizer_table.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "models/make_model.h"

namespace mpitron::train {
namespace {

const char* word_of(config::OptimizerKind rule, const config::MuonConfig& muon) {
  switch (rule) {
    case config::OptimizerKind::adam:
      return "adam";
    case config::OptimizerKind::sgd:
      return "sgd";
    case config::OptimizerKind::muon:
      return muon.moments == config::MuonMoments::none ? "muon" : "adaptive_muon";
    case config::OptimizerKind::soap:
      return "soap";
    case config::OptimizerKind::lion:
      break;
  }
  return "lion";
}

/// Words between dots that are numbers become stars.
std::string without_numbers(const std::string& name) {
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    const std::string word = name.substr(at, end - at);
    const bool number = std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
    result += (number ? "*" : word) + (end < name.size() ? "." : "");
    at = end + 1;
  }
  return result;
}

}  // namespace

optim::ParameterTraits traits_of(const autograd::Parameter& parameter) {
  return {.name = parameter.name,
          .rank = parameter.shape.rank(),
          .is_expert = parameter.placement.expert,
          .is_embedding_or_output = parameter.role.embedding_or_output,
          .scale_lr = parameter.name.starts_with("head.")};
}

/// Builds the whole model and sorts its parameters into the optimizer's groups.
std::string optimizer_table(const config::RunConfig& config, device::Device& device) {
  struct Row {
    std::string text;
    int times = 0;
  };
  const std::unique_ptr<models::Model> model =
      models::make_model(config.model, device,
                         {.groups = comm::groups_of_one(*comm::make_single_world()),
                          .part = nn::whole_model(config.model)});
  const optim::ParameterGroupOptions options =
      optim::make_parameter_group_options(config.optimizer);
  std::vector<Row> rows;
  for (const autograd::Parameter& parameter : model->parameters()) {
    const config::OptimizerKind rule = optim::update_rule(
        config.optimizer, optim::parameter_group_key(traits_of(parameter), options));
    const std::string text =
        fmt::format(" > {} updates {} {}", word_of(rule, config.optimizer.muon),
                    without_numbers(parameter.name), to_string(parameter.shape));
    auto row = std::ranges::find(rows, text, &Row::text);
    if (row == rows.end()) {
      rows.push_back({text});
      row = std::prev(rows.end());
    }
    ++row->times;
  }
  std::string table;
  for (const Row& row : rows) {
    table += fmt::format("{}{}, {} time{}", table.empty() ? "" : "\n", row.text, row.times,
                         row.times == 1 ? "" : "s");
  }
  return table;
}

}  // namespace mpitron::train
