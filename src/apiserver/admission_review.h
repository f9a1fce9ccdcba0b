// What a request looks like to those who may change or refuse it. Api thread only.
#pragma once

#include <memory>

#include "apiserver/admission.h"

namespace gantree::apiserver {

// An AdmissionReview with the objects in the version of the kind. The objects must live until it ends.
[[nodiscard]] Task<Outcome<Object>> review_for(Core& core, RequestPtr request, std::shared_ptr<Admission> admission,
                                               KindPtr kind);

}  // namespace gantree::apiserver
