#include "train/reruns/pending_result.h"

#include <bit>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "utils/error.h"

namespace mpitron::train {

using nlohmann::json;

std::string to_json(const PendingResult& pending) {
  json object = {{"iteration", pending.iteration},
                 {"name", pending.name},
                 {"value_bits", std::bit_cast<std::uint64_t>(pending.value)},  // JSON has no NaN
                 {"complaint", pending.complaint},
                 {"fatal", pending.fatal},
                 {"machines", pending.machines}};
  if (pending.injected) {
    object["injected_error"] = static_cast<int>(*pending.injected);
  }
  return object.dump(2) + "\n";
}

PendingResult pending_result(const std::string& text, const std::string& origin) {
  try {
    const json object = json::parse(text);
    PendingResult pending{
        .iteration = object.at("iteration").get<Index>(),
        .name = object.at("name").get<std::string>(),
        .value = std::bit_cast<double>(object.at("value_bits").get<std::uint64_t>()),
        .complaint = object.at("complaint").get<std::string>(),
        .fatal = object.at("fatal").get<bool>(),
        .machines = object.at("machines").get<std::string>()};
    if (object.contains("injected_error")) {
      const int kind = object.at("injected_error").get<int>();
      if (kind < 0 || kind > static_cast<int>(config::InjectedError::persistent_error)) {
        throw_data("{}: there is no kind {} of injected errors", origin, kind);
      }
      pending.injected = static_cast<config::InjectedError>(kind);
    }
    return pending;
  } catch (const json::exception& error) {
    throw_data(
        "{}: not what a run wrote of a rejected result ({}). Remove the file to go on without it",
        origin, error.what());
  }
}

}  // namespace mpitron::train
