// Requests that may have to wait for somebody outside, written as if they did not: coroutines of the api thread.
//
//   Task<int> f() { const int x = co_await g(); co_return x + 1; }
//
// A Task begins when it is awaited, or start()ed as the outermost one, and everything in it runs on one thread.
// Destroying the outermost Task destroys what it waits in. Nothing here may throw.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace gantree::apiserver {

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct Final {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle handle) const noexcept {
      const auto next = handle.promise().continuation;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  struct promise_type {
    std::coroutine_handle<> continuation;
    std::optional<T> value;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    template <class U>
    void return_value(U&& given) {
      value.emplace(std::forward<U>(given));
    }
    void unhandled_exception() { std::terminate(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { destroy(); }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
    handle_.promise().continuation = waiting;
    return handle_;
  }
  T await_resume() { return std::move(*handle_.promise().value); }

  // For the outermost task: runs until it ends or waits.
  void start() { handle_.resume(); }
  [[nodiscard]] bool done() const { return handle_.done(); }
  // Requires done().
  [[nodiscard]] T take() { return std::move(*handle_.promise().value); }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  void destroy() {
    if (handle_) {
      handle_.destroy();
    }
  }

  Handle handle_;
};

// Waits for a callback. `begin` is called once and must see to it that what it is given is called later, on the api
// thread, once and not before `begin` returns.
template <class T>
class Later {
 public:
  using Begin = std::function<void(std::function<void(T)>)>;
  explicit Later(Begin begin) : begin_(std::move(begin)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    begin_([this, waiting](T value) {
      value_.emplace(std::move(value));
      waiting.resume();
    });
  }
  T await_resume() { return std::move(*value_); }

 private:
  Begin begin_;
  std::optional<T> value_;
};

}  // namespace gantree::apiserver
