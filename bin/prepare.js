/** What every process of the program does before it loads anything else of it. Its threads follow. */
import nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import v8 from 'node:v8';
import './resolve.js';

// The young generation of this thread has its size, from the command line. From here on the option
// would only overrule the limits that other threads are given (nodejs/node#43991).
v8.setFlagsFromString('--max-semi-space-size=0');

// Node brings compiled code of its own modules along, which V8 takes only while its flags are those that
// Node was built with. What a service needs of them is loaded before that ends with the next lines. Not by
// `import`, which would load all that they export, a WebSocket client among it.
const needed = 'assert cluster crypto fs/promises http http2 https perf_hooks worker_threads zlib';
for (const name of needed.split(' ')) process.getBuiltinModule(`node:${name}`);

// V8 frees the code of a wrapper that two threads make at the same time twice, which ends the process
// (Runtime_TierUpWasmToJSWrapper, seen with Node 24.21). Without this tier the wrappers are slower, and
// only the compiler that strips types and the parser of `fetch` call JavaScript from WebAssembly.
v8.setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000');

// Threads and child processes know the cache by this variable alone; without it each of them loads
// the compiler that strips types. A folder that cannot be written keeps nobody from starting.
process.env.NODE_COMPILE_CACHE ??= path.join(tmpdir(), 'node-compile-cache');
nodeModule.enableCompileCache();
