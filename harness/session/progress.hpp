// What a person sees while waiting: case i of n, the current estimate, the time left. On stderr; a
// terminal gets one line that rewrites itself, a log gets one line per case.
#pragma once

#include <chrono>
#include <string>

namespace amasia {

class Progress {
 public:
  /// `expected_seconds`: of all cases together, before anything was measured.
  Progress(int cases, double expected_seconds);
  void begin(const std::string& name, double expected_seconds);
  void note(const std::string& line);
  void end(const std::string& line);

 private:
  std::string eta() const;
  void rewrite(const std::string& line);

  int cases_;
  int current_ = 0;
  double expected_left_;
  double expected_current_ = 0;
  double expected_done_ = 0;
  double spent_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point case_begin_;
  std::string name_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace amasia
