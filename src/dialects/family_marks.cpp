#include "dialects/family_marks.h"

#include <algorithm>
#include <iterator>

namespace gantree {

namespace {

constexpr std::string_view kFamilyMarks[] = {"koordinator.sh/", "x-k8s.io/", "sigs.k8s.io", "kai.scheduler/", "runai/"};

}  // namespace

bool is_family_mark(std::string_view annotation) {
  return std::any_of(std::begin(kFamilyMarks), std::end(kFamilyMarks),
                     [&](std::string_view mark) { return annotation.find(mark) != std::string_view::npos; });
}

}  // namespace gantree
