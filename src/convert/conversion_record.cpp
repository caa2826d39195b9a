#include "convert/conversion_record.h"

#include <nlohmann/json.hpp>

namespace mpitron::convert {

std::string record_json(const ConvertSettings& settings, const ConvertReport& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"from", settings.from.string()},
               {"from_format", name_of(report.from_format)},
               {"to", report.output.string()},
               {"to_format", name_of(settings.to_format)},
               {"model_type", report.model_type},
               {"dtype", settings.dtype ? mpitron::name_of(*settings.dtype) : "unchanged"},
               {"tensors", report.tensors},
               {"bytes", report.bytes},
               {"ignored", report.ignored},
               {"without_counterpart", report.unmapped},
               {"notes", report.notes},
               {"build", settings.build}};
  if (report.round_trip) {
    Json hashes = Json::array();
    for (const ComparedTensor& tensor : report.round_trip->tensors) {
      hashes.push_back({{"name", tensor.name},
                        {"source", tensor.before.hex()},
                        {"converted_back", tensor.after.hex()}});
    }
    json["verified"] = {{"equal", report.proven()},
                        {"different", report.round_trip->different()},
                        {"bytes", report.round_trip->bytes},
                        {"xxh3_128", std::move(hashes)}};
    if (report.logits_difference) {
      json["verified"]["largest_logits_difference"] = *report.logits_difference;
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace mpitron::convert
