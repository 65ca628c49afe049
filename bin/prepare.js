/** What every process of the program does before it loads anything else of it. Its threads follow. */
import nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import v8 from 'node:v8';

// The young generation of this thread has its size, from the command line. From here on the option
// would only overrule the limits that other threads are given (nodejs/node#43991).
v8.setFlagsFromString('--max-semi-space-size=0');

// V8 frees the code of a wrapper that two threads make at the same time twice, which ends the process
// (Runtime_TierUpWasmToJSWrapper, seen with Node 24.21). Without this tier the wrappers are slower, and
// only the compiler that strips types and the parser of `fetch` call JavaScript from WebAssembly.
v8.setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000');

// Threads and child processes know the cache by this variable alone; without it each of them loads
// the compiler that strips types. A folder that cannot be written keeps nobody from starting.
process.env.NODE_COMPILE_CACHE ??= path.join(tmpdir(), 'node-compile-cache');
nodeModule.enableCompileCache();
