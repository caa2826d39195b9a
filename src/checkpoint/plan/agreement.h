#pragma once
#include <string>
#include <vector>

#include "comm/groups/group.h"

namespace mpitron::checkpoint {

/// Collectives of texts and of errors; every member of the group calls them.

/// Returns the root's text on every member. Every function here is called by all members of the
/// group.
std::string broadcast_text(comm::Group& group, const std::string& text, Index root);
/// Returns every member's text, in group order, on all members.
std::vector<std::string> gather_texts(comm::Group& group, const std::string& text);
/// Returns every member's text at member 0; nothing elsewhere.
std::vector<std::string> collect_texts(comm::Group& group, const std::string& text);
/// Returns the error of the first member that has one; an empty text where all went well. Every
/// member gets the same text.
std::string first_error(comm::Group& group, const std::string& error);

/// Returns what went wrong in `work`, an empty text where nothing did: an error of one rank must
/// not keep it from the collectives that the others wait in.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "unknown error" : text;
  }
}

/// Throws Error(data) on every member where one has an error: the first's, told once.
void throw_first_error(comm::Group& group, const std::string& error);

/// Runs `work` on member 0; an error there is thrown by all.
template <class Work>
void on_member_0(comm::Group& group, Work&& work) {
  throw_first_error(group, error_of([&] {
                      if (group.rank() == 0) {
                        work();
                      }
                    }));
}

}  // namespace mpitron::checkpoint
