#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::inference {

/// How people's answers to a question about an image agree with a guess (VQA; Antol et al. 2015):
/// the mean, over the answers, of min(1, equal ones among the others / 3); of a single answer,
/// whether it is equal. Texts are compared as VQA's script does: small letters, without articles
/// and punctuation, numbers up to ten as digits.
double vqa_accuracy(const std::string& guess, const std::vector<std::string>& answers);

/// ChartQA's measure (Masry et al. 2022): numbers may be 5 % off, percent signs count as nothing;
/// other texts are equal in small letters. The best of several answers.
double relaxed_accuracy(const std::string& guess, const std::vector<std::string>& answers);

/// CIDEr-D of captions (Vedantam et al. 2015), as coco-caption computes it: how much a caption's
/// pieces of one to four words, weighed by how rare they are in the references, agree with its
/// references; 10 where they are the same. Words are runs of small letters and digits.
double cider(const std::vector<std::pair<std::string, std::vector<std::string>>>& captions);

/// Runs of letters and digits in small letters; characters of `kept` count as letters.
std::vector<std::string> words_of(const std::string& text, std::string_view kept = "");

}  // namespace mpitron::inference
