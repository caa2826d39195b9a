#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::io {

/// A node of what a pickle describes. Texts are views into the pickle.
struct PickleValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    bytes,
    list,
    tuple,
    dict,
    global,     // the name of a class or function, never the thing itself
    object,     // what a call of a global would have made: nothing is called
    persistent  // a reference to something outside: a tensor's storage
  };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  // booleans too
  double real = 0;
  std::string_view text;                  // text and bytes; of a global its module
  std::string_view member;                // of a global: its name in the module
  std::vector<const PickleValue*> items;  // list and tuple
  /// dict, and objects that are filled like one: key, value, key, value, ...
  std::vector<const PickleValue*> entries;
  const PickleValue* callable = nullptr;   // object: the global
  const PickleValue* arguments = nullptr;  // object: of the call; persistent: the id
  const PickleValue* state = nullptr;      // object: what would have become its attributes

  /// "torch.Size" for a global, and for an object of it; empty for everything else.
  std::string global_name() const;
  bool is_object_of(std::string_view global) const {
    return kind == Kind::object && global_name() == global;
  }
  /// Value of a text key in a dict, or in the state of an object; null where there is none.
  const PickleValue* find(std::string_view key) const;
};

/// Reads a pickle (protocols 2 to 5) into plain values. It is a description of data here: no global
/// is looked up, nothing is called, and no opcode reaches outside the bytes given. The number of
/// values is bounded by the pickle's size and by a limit. What would need a call is kept as an
/// object under the name of its global, and whoever needs it decides by that name. Values can
/// contain themselves: nobody may walk them without a bound. Error(data) names the source, the
/// position and the opcode.
class Pickle {
 public:
  /// `bytes` must outlive this.
  Pickle(std::span<const std::byte> bytes, std::string source);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const { return *root_; }

 private:
  std::string source_;
  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

/// Runs the program that a pickle is and returns the value that it leaves; all that it builds is
/// added to `values`. Error(data) names `source`, position and opcode.
const PickleValue* run_pickle(std::span<const std::byte> bytes, const std::string& source,
                              std::deque<PickleValue>& values);

}  // namespace mpitron::io
