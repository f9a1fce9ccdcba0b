#include "apiserver/admission_review.h"

#include <utility>

#include "apiserver/convert.h"
#include "apiserver/hook.h"
#include "apiserver/person.h"

namespace gantree::apiserver {

namespace {

struct Question {
  std::string uid;
  KindPtr kind;
  Value object;
  Value old;
};

Object kind_object(const Kind& kind) {
  Object object;
  object["group"] = kind.group;
  object["version"] = kind.version;
  object["kind"] = kind.kind;
  return object;
}

Object resource_object(const Kind& kind) {
  Object object;
  object["group"] = kind.group;
  object["version"] = kind.version;
  object["resource"] = kind.resource;
  return object;
}

Object options_of(Operation operation, const Request& request) {
  Object options;
  options["kind"] = operation == Operation::kCreate   ? "CreateOptions"
                    : operation == Operation::kDelete ? "DeleteOptions"
                                                      : "UpdateOptions";
  options["apiVersion"] = "meta.k8s.io/v1";
  if (const std::string_view manager = request.query.get("fieldManager"); !manager.empty()) {
    options["fieldManager"] = manager;
  }
  if (request.dry_run()) {
    options["dryRun"] = Array{Value("All")};
  }
  return options;
}

Object review_of(const Request& request, const Admission& admission, Question question) {
  Object review;
  review["kind"] = "AdmissionReview";
  review["apiVersion"] = "admission.k8s.io/v1";
  Object& body = object_in(review, "request");
  body["uid"] = question.uid;
  body["kind"] = kind_object(*question.kind);
  body["resource"] = resource_object(*question.kind);
  body["requestKind"] = kind_object(*request.kind);
  body["requestResource"] = resource_object(*request.kind);
  if (!request.subresource.empty()) {
    body["subResource"] = request.subresource;
    body["requestSubResource"] = request.subresource;
  }
  if (!admission.name.empty()) {
    body["name"] = admission.name;
  }
  if (!request.ns.empty()) {
    body["namespace"] = request.ns;
  } else if (request.kind->table == "namespaces") {
    body["namespace"] = admission.name;
  }
  body["operation"] = name_of(admission.operation);
  body["userInfo"] = user_info(request.call);
  body["object"] = std::move(question.object);
  body["oldObject"] = std::move(question.old);
  body["dryRun"] = admission.dry_run;
  body["options"] = options_of(admission.operation, request);
  return review;
}

Task<Outcome<Value>> in_version(Core& core, KindPtr kind, const Object* object) {
  if (object == nullptr) {
    co_return Outcome<Value>(Value());
  }
  Object copy = *object;
  auto converted = co_await convert(core, kind, std::move(copy));
  if (!converted) {
    co_return Outcome<Value>(tl::unexpected(std::move(converted.error())));
  }
  co_return Outcome<Value>(Value(std::move(*converted)));
}

}  // namespace

Task<Outcome<Object>> review_for(Core& core, RequestPtr request, std::shared_ptr<Admission> admission, KindPtr kind) {
  Question question{core.random.uid(), kind, {}, {}};
  auto object = co_await in_version(core, kind, admission->object);
  auto old = co_await in_version(core, kind, admission->old);
  if (!object || !old) {
    co_return Outcome<Object>(tl::unexpected(std::move(!object ? object.error() : old.error())));
  }
  question.object = std::move(*object);
  question.old = std::move(*old);
  co_return Outcome<Object>(review_of(*request, *admission, std::move(question)));
}

}  // namespace gantree::apiserver
