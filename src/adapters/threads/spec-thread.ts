/** The thread of `spec-checker.ts`: gets a spec's text, answers with its findings. */
import { parentPort } from 'node:worker_threads';
import { findingsOf } from '#catalog/spec/spec-check.ts';

parentPort?.on('message', (specText: string) => {
  void findingsOf(specText).then((findings) => parentPort?.postMessage(findings));
});
