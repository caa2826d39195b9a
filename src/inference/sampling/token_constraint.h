#pragma once
#include <functional>
#include <memory>
#include <span>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

using tokenizers::TokenId;

/// A set of ids: bit id % 64 of word id / 64. An empty span is the set of all ids.
using TokenMask = std::span<const std::uint64_t>;

/// Holds an answer to a language (a schema, a regular expression): it is asked before each token
/// and told the one that was drawn, never a draft. One object belongs to one answer.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;

  /// Returns the ids that may come next, ids that end the answer among them where it may end; valid
  /// until the next call. No bit at all where no token fits.
  virtual TokenMask allowed() = 0;
  /// Takes the token that follows; one of allowed().
  virtual void take(TokenId id) = 0;
  /// Tells whether nothing may follow: the answer ends here, without an id that says so.
  virtual bool complete() const = 0;
};

/// Makes the constraint of one answer at its beginning; unset for answers that may be anything.
using MakeConstraint = std::function<std::unique_ptr<TokenConstraint>()>;

}  // namespace mpitron::inference
