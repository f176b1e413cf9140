// libamasia_compare: implementations of another language, for callers of C such as the Python
// package amasia (amasia/library.py); the two are of one version.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Called back with what is to be done, on the thread that called amasia_compare(). 0 and more: the
/// work of that implementation is to be enqueued on `stream` (a cudaStream_t). `text` takes up to
/// `size` bytes, zero-terminated, of what is wrong (AMASIA_VERIFY), and has the line to show
/// (AMASIA_PROGRESS). AMASIA_INPUTS: inputs of the seed `size` are to be enqueued on `stream`.
enum { AMASIA_RESET = -1, AMASIA_VERIFY = -2, AMASIA_PROGRESS = -3, AMASIA_INPUTS = -4 };
/// What comes back: done, outputs wrong (AMASIA_VERIFY only), or that everything is to end.
enum { AMASIA_DONE = 0, AMASIA_WRONG = 1, AMASIA_STOP = 2 };
using amasia_callback = int (*)(int what, void* stream, char* text, unsigned long size);

/// Of the suite, "0.1.0".
const char* amasia_compare_version(void);

/// Compares as `request` says, a JSON object with these members.
///   What: "name", "names": [...], "size": {name: integer or text, ...}, not empty.
///   How: "cache": "cold" | "hot", "reset": bool, "verify": bool, "inputs": bool.
///   Effort: "seconds", "min_rounds", "max_rounds", "precision", "confidence".
///   Where: "device", "stream": null or an integer, "argv": [...], "progress": bool.
///   Work: "work": null or {"operations", "bytes_read", "bytes_written"}.
///
/// Answers with a JSON object, to be given back to amasia_compare_free(). On success it is
/// {"result": a result file, "answers": [a sentence for each comparison, in their order]}. Else it
/// is {"error": "usage" | "no device" | "stopped" | "failed", "message"}. Null: there is no memory
/// for an answer. One call at a time.
char* amasia_compare(const char* request, amasia_callback callback);
void amasia_compare_free(char* answer);

#ifdef __cplusplus
}
#endif
