#include "apiserver/handlers.h"

namespace gantree::apiserver {

namespace {

Task<Answer> handle_collection(Core& core, RequestPtr request) {
  const std::string& method = request->call.method;
  const bool all_namespaces = request->kind->namespaced && request->ns.empty();
  if (!request->kind->stored) {
    if (method != "POST") {
      co_return refuse(method_not_allowed_here());
    }
    Answer answer = co_await answer_review(core, request);
    co_return answer;
  }
  if (method == "GET" || method == "HEAD") {
    if (request->is_watch()) {
      Answer answer = co_await watch_objects(core, request);
      co_return answer;
    }
    Answer answer = co_await list_objects(core, request);
    co_return answer;
  }
  if (method == "POST" && !all_namespaces) {
    Answer answer = co_await create_object(core, request);
    co_return answer;
  }
  if (method == "DELETE" && !all_namespaces && request->kind->can("deletecollection")) {
    Answer answer = co_await delete_collection(core, request);
    co_return answer;
  }
  co_return refuse(method_not_allowed_here());
}

Task<Answer> handle_object(Core& core, RequestPtr request) {
  const std::string& method = request->call.method;
  if (method == "GET" || method == "HEAD") {
    if (request->is_watch()) {
      Answer answer = co_await watch_objects(core, request);
      co_return answer;
    }
    Answer answer = co_await get_object(core, request);
    co_return answer;
  }
  if (method == "PUT") {
    Answer answer = co_await update_object(core, request);
    co_return answer;
  }
  if (method == "PATCH") {
    Answer answer = co_await patch_object(core, request);
    co_return answer;
  }
  if (method == "DELETE" && request->subresource.empty()) {
    Answer answer = co_await delete_object(core, request);
    co_return answer;
  }
  co_return refuse(method_not_allowed_here());
}

}  // namespace

Task<Answer> handle(Core& core, RequestPtr request) {
  if (request->kind == nullptr) {
    co_return serve_page(core, *request);
  }
  if (!request->kind->deprecation.empty()) {
    request->warnings.push_back(request->kind->deprecation);
  }
  if (request->name.empty()) {
    Answer answer = co_await handle_collection(core, request);
    co_return answer;
  }
  if (!request->kind->stored) {
    co_return refuse(no_such_path());
  }
  if (request->subresource.empty() || request->subresource == "status") {
    Answer answer = co_await handle_object(core, request);
    co_return answer;
  }
  Answer answer = co_await serve_subresource(core, request);
  co_return answer;
}

}  // namespace gantree::apiserver
