#pragma once
#include <memory>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::convert {

/// The members of a JSON object, such as config.json, in their order. A member that is null counts
/// as absent. What has another type than it should is an Error(data) that names `source`.
class JsonObject {
 public:
  JsonObject();  // without members
  /// Infinity, which Python writes and JSON does not know, is read as the largest number.
  JsonObject(const std::string& text, std::string source);
  JsonObject(const JsonObject& other);
  JsonObject& operator=(const JsonObject& other);
  ~JsonObject();

  bool has(const std::string& name) const;
  /// Returns texts as they are, everything else as JSON writes it.
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  bool flag(const std::string& name, bool otherwise) const;
  double real(const std::string& name, double otherwise) const;
  /// Return a number from 1 to 2^31, else Error(data); the second form allows that it is absent.
  Index size(const std::string& name) const;
  Index size(const std::string& name, Index otherwise) const;
  /// Counts the members.
  Index count() const;
  /// Returns an object without members where it is absent.
  JsonObject object(const std::string& name) const;
  /// Returns the texts of a list; no entries where it is absent, and "" for entries of another
  /// kind.
  std::vector<std::string> texts(const std::string& name) const;
  /// Returns the numbers of a list in the same way; an entry of another kind is infinite, as
  /// infinity has no number in JSON.
  std::vector<double> reals(const std::string& name) const;
  const std::string& source() const { return source_; }

  void set(const std::string& name, bool value);
  void set(const std::string& name, Index value);
  void set(const std::string& name, double value);
  void set(const std::string& name, const char* value);
  void set(const std::string& name, const JsonObject& value);
  void set_list(const std::string& name, const std::vector<std::string>& entries);
  void set_list(const std::string& name, const std::vector<Index>& entries);
  void set_null(const std::string& name);
  void erase(const std::string& name);
  /// Writes the object indented, with an end of line.
  std::string dump() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
  std::string source_;
};

}  // namespace mpitron::convert
