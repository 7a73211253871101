/** What the commands print, and the codes they end with. */
import { ApiError, WaybillError } from "../errors.js";

export const EXIT = { ok: 0, failed: 1, usage: 2, keyRefused: 3 } as const;

/** A wrong command line. */
export class UsageError extends Error {}

/** The key is of the wrong mode. */
export class KeyError extends Error {}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Explains an error and returns the exit code. */
export function explain(error: unknown): number {
  if (error instanceof ApiError) {
    printError(`${error.message} (${error.code}, request ${error.requestId ?? "unknown"})`);
    for (const { field, message } of error.errors) printError(`  ${field || "body"}: ${message}`);
    if (error.missing.length > 0) printError(`  missing: ${error.missing.join(", ")}`);
    return error.status === 401 ? EXIT.keyRefused : EXIT.failed;
  }
  if (error instanceof WaybillError) {
    printError(error.message);
    return EXIT.failed;
  }
  if (error instanceof KeyError || error instanceof UsageError || error instanceof TypeError) {
    printError(error.message);
    return error instanceof KeyError ? EXIT.keyRefused : EXIT.usage;
  }
  throw error;
}
