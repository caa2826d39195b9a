#pragma once
#include <memory>
#include <optional>
#include <string>

#include "config/model_config.h"
#include "convert/description/json_object.h"
#include "utils/error.h"

// A model's options between JSON and the members of a structure. A table has pairs of a stored name
// and a member, or of a word and the value that it stands for; the same one reads and writes.

namespace mpitron::convert {

constexpr Index kLargestSize = Index{1} << 31;

/// Reads what is there; a value that is absent or null leaves `into` as it was.
class StoredOptions {
 public:
  /// Error(data) names `source`.
  StoredOptions(const std::string& text, std::string source);
  ~StoredOptions();

  /// False where it is absent. Error(data) where its value is of another kind, or an integer beyond
  /// +-kLargestSize.
  bool read(const char* name, bool& into) const;
  bool read(const char* name, Index& into) const;
  bool read(const char* name, double& into) const;
  bool read(const char* name, std::string& into) const;
  template <class T>
  void read(const char* name, std::optional<T>& into) const {
    T value{};
    if (read(name, value)) {
      into = value;
    }
  }
  template <class Table, class Object>
  void read_all(const Table& table, Object& object) const {
    for (const auto& [name, member] : table) {
      read(name, object.*member);
    }
  }
  template <class Table, class E>
  void choose(const char* name, const Table& words, E& into) const {
    std::string word;
    if (!read(name, word)) {
      return;
    }
    for (const auto& [candidate, value] : words) {
      if (word == candidate) {
        into = value;
        return;
      }
    }
    throw_data("{}: {} is {}, which cannot be converted", source_, name, word);
  }
  bool flag(const char* name, bool otherwise = false) const {
    read(name, otherwise);
    return otherwise;
  }
  /// Numbers and lists as JSON writes them; "" where it is absent.
  std::string text(const char* name) const;
  const std::string& source() const { return source_; }

 private:
  struct Data;
  std::unique_ptr<Data> data_;
  std::string source_;
};

/// Error(data) where a member is below `least` or above kLargestSize.
template <class Table, class Object>
void check_sizes(const Table& table, const Object& object, Index least, const std::string& source) {
  for (const auto& [name, member] : table) {
    if (object.*member < least || object.*member > kLargestSize) {
      throw_data("{}: {} is {}, allowed are {} to {}", source, name, object.*member, least,
                 kLargestSize);
    }
  }
}

template <class Table, class Object>
void write_all(const Table& table, const Object& object, JsonObject& json) {
  for (const auto& [name, member] : table) {
    json.set(name, object.*member);
  }
}

/// Those that have a value.
template <class Table, class Object>
void write_given(const Table& table, const Object& object, JsonObject& json) {
  for (const auto& [name, member] : table) {
    if (object.*member) {
      json.set(name, *(object.*member));
    }
  }
}

template <class Table, class E>
void write_choice(const char* name, const Table& words, E value, JsonObject& json) {
  for (const auto& [word, candidate] : words) {
    if (candidate == value) {
      json.set(name, word);
    }
  }
}

/// Positions and latent attention of a model.
void read_attention(const StoredOptions& options, config::ModelConfig& model);
void write_attention(const config::ModelConfig& model, JsonObject& json);

/// The options of experts; nothing for a model without. Reads `model`'s layers and width.
std::optional<config::MoeConfig> read_experts(const StoredOptions& options,
                                              const config::ModelConfig& model);
void write_experts(const config::MoeConfig& moe, JsonObject& json);

}  // namespace mpitron::convert
