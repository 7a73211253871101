/** What `listen` keeps between runs: its signing secret, and its place in the feed. */
import { createHash, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { CursorStore } from "../events.js";
import { parseSecrets } from "../webhooks.js";
import { LocalError } from "./output.js";

export function stateDirectory(): string {
  const { WAYBILL_STATE_DIRECTORY, XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const directory =
    WAYBILL_STATE_DIRECTORY ||
    join(XDG_STATE_HOME || LOCALAPPDATA || join(homedir(), ".local", "state"), "waybill");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** The secret that `listen` signs with. It is made once, so that the receiver's configuration stays valid. */
export function listenSecret(directory: string): string {
  const file = join(directory, "secret");
  if (readIfExists(file) === undefined) makeSecret(file);
  const secret = readFileSync(file, "utf8").trim();
  try {
    parseSecrets(secret);
  } catch {
    throw new LocalError(`The file ${file} contains no signing secret. Delete it to make another one.`);
  }
  return secret;
}

function makeSecret(file: string): void {
  // Linking a complete file never replaces the secret of another process that starts now.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `whsec_${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  try {
    linkSync(fresh, file);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(fresh);
  }
}

interface Entry {
  cursor: string;
  settled: boolean;
}

/**
 * The place in the feed. Events of different orders end in any order, so the saved cursor is the last event before
 * which all have ended, with the ids of those after it that have ended too.
 */
export class Progress implements CursorStore {
  readonly #file: string;
  #cursor: string | null = null;
  #done = new Set<string>();
  #window: Entry[] = [];
  #room: (() => void) | undefined;

  constructor(directory: string, ...names: string[]) {
    const name = createHash("sha256").update(names.join("\n")).digest("hex").slice(0, 16);
    this.#file = join(directory, `place-${name}.json`);
    const saved = readIfExists(this.#file);
    if (!saved) return;
    try {
      const { cursor, done } = JSON.parse(saved);
      this.#cursor = cursor;
      this.#done = new Set(done);
    } catch {
      throw new LocalError(`The file ${this.#file} is damaged. Delete it to begin with new events.`);
    }
  }

  /**
   * Refuses a second `listen` with the same place. Each process writes a file of its own and then looks for others,
   * so of two that start at once at least one sees the other.
   */
  lock(): void {
    const own = `${this.#file}.${process.pid}.lock`;
    writeFileSync(own, "", { mode: 0o600 });
    process.once("exit", () => rmSync(own, { force: true }));
    const prefix = `${basename(this.#file)}.`;
    for (const name of readdirSync(dirname(this.#file))) {
      const pid = name.startsWith(prefix) ? /^(\d+)\.lock$/.exec(name.slice(prefix.length))?.[1] : undefined;
      if (!pid || Number(pid) === process.pid) continue;
      const path = join(dirname(this.#file), name);
      if (isRunning(Number(pid))) {
        throw new LocalError(
          `Another listen forwards the same events (process ${pid}, ${path}). Stop it first.`,
        );
      }
      rmSync(path, { force: true });
    }
  }

  forget(): void {
    this.#cursor = null;
    this.#done.clear();
  }

  load(): Promise<string | null> {
    return Promise.resolve(this.#cursor);
  }

  /** The feed was read up to here. */
  async save(cursor: string): Promise<void> {
    if (this.#window.some((entry) => entry.cursor === cursor) || this.#cursor === cursor) return;
    this.#window.push({ cursor, settled: true });
    this.#advance();
  }

  isDone(id: string): boolean {
    return this.#done.has(id);
  }

  /** Adds an event, once fewer than `limit` others are unfinished. */
  async begin(id: string, limit: number): Promise<void> {
    while (this.#window.length >= limit) await new Promise<void>((resolve) => (this.#room = resolve));
    this.#window.push({ cursor: id, settled: false });
  }

  /** The event has its outcome. */
  settle(id: string): void {
    for (const entry of this.#window) entry.settled ||= entry.cursor === id;
    this.#done.add(id);
    this.#advance();
    this.#room?.();
  }

  #advance(): void {
    for (let first = this.#window[0]; first?.settled; first = this.#window[0]) {
      this.#cursor = first.cursor;
      this.#done.delete(first.cursor);
      this.#window.shift();
    }
    const fresh = `${this.#file}.${process.pid}`;
    // Flushed, so that a crash of the machine leaves the former or the new place.
    writeFileSync(fresh, JSON.stringify({ cursor: this.#cursor, done: [...this.#done] }), {
      mode: 0o600,
      flush: true,
    });
    renameSync(fresh, this.#file);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
