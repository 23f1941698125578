// The C functions that Python calls through ctypes, and the choice of a kernel at run time.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

#include "kernel.h"

namespace retrolex {
namespace {

struct Kernel {
  const char* name;
  Search* search;
  bool (*runs_here)();
};

bool always() { return true; }
#if defined(__x86_64__)
bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("avx512vnni");
}
#endif

// Best first.
const Kernel kernels[] = {
#if defined(__x86_64__)
    {"avx512", avx512::search, has_avx512},
    {"avx2", avx2::search, has_avx2},
#elif defined(__aarch64__)
    {"neon", neon::search, always},
#endif
    {"scalar", scalar::search, always},
};
constexpr int kernel_count = sizeof(kernels) / sizeof(kernels[0]);

// One a thread, kept from call to call: its first use costs as much as a short search.
thread_local std::unique_ptr<Scratch> scratch_of_thread;

}  // namespace
}  // namespace retrolex

extern "C" {

int64_t retrolex_view_bytes() { return sizeof(retrolex::View); }

// Name of the i-th kernel that runs on this processor, best first; null past the last.
const char* retrolex_kernel_name(int index) {
  for (const auto& kernel : retrolex::kernels) {
    if (kernel.runs_here() && index-- == 0) return kernel.name;
  }
  return nullptr;
}

// Search queries [begin, end) with integer weights. Results of query q start at (q - begin) * k in `documents` and `scores`.
// Returns 0, -1 when no such kernel runs here, or -2 when memory ran out.
int retrolex_search(const retrolex::View* view, const char* kernel_name, const int64_t* query_pointers, const int32_t* terms,
                    const int32_t* weights, int64_t begin, int64_t end, int64_t k, int64_t* documents, int32_t* scores, int64_t* counts) {
  using namespace retrolex;
  try {
    for (int i = 0; i < kernel_count; ++i) {
      if (std::strcmp(kernels[i].name, kernel_name) != 0 || !kernels[i].runs_here()) continue;
      if (!scratch_of_thread) scratch_of_thread = std::make_unique<Scratch>();
      for (int64_t q = begin; q < end; ++q) {
        const int64_t start = query_pointers[q], out = (q - begin) * k;
        TopK<int32_t> top(static_cast<size_t>(k));
        kernels[i].search(*view, {terms + start, weights + start, query_pointers[q + 1] - start}, *scratch_of_thread, top);
        counts[q - begin] = top.write(documents + out, scores + out);
      }
      return 0;
    }
    return -1;
  } catch (const std::exception&) {
    scratch_of_thread.reset();  // a search that was broken off leaves sums behind
    return -2;
  }
}

// The same for float weights, whose scores are doubles.
int retrolex_search_float(const retrolex::View* view, const int64_t* query_pointers, const int32_t* terms, const float* weights, int64_t begin,
                          int64_t end, int64_t k, int64_t* documents, double* scores, int64_t* counts) {
  using namespace retrolex;
  try {
    std::vector<double> accumulators(kBlock);
    for (int64_t q = begin; q < end; ++q) {
      const int64_t start = query_pointers[q], out = (q - begin) * k;
      TopK<double> top(static_cast<size_t>(k));
      search_float(*view, terms + start, weights + start, query_pointers[q + 1] - start, accumulators, top);
      counts[q - begin] = top.write(documents + out, scores + out);
    }
    return 0;
  } catch (const std::exception&) {
    return -2;
  }
}

// Python imports nothing from here: the library is opened by path. Windows' linker wants the name of a module's entry point all the same.
void* PyInit__kernel() { return nullptr; }

}  // extern "C"
