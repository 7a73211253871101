/** What `listen` keeps between runs: its signing secret, and its place in the feed. */
import { createHash, randomBytes } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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

/** Longer than a program of npx needs to notice that npx was killed. */
const LOCK_WAIT_MS = 3_000;
const LOCK_PAUSE_MS = 100;

interface Entry {
  cursor: string;
  settled: boolean;
}

/**
 * The place in the feed. Events of different orders end in any order, so the saved cursor is the last event before
 * which all have ended, with the ids of those after it that have ended too.
 */
export class Progress implements CursorStore {
  readonly file: string;
  /** When a former run last saved its place. */
  readonly savedAt: Date | undefined;
  #cursor: string | null = null;
  #done = new Set<string>();
  /** The failed attempts of each event that is not done, so that their numbers and pauses go on after a restart. */
  #attempts = new Map<string, number>();
  #window: Entry[] = [];
  #room: (() => void) | undefined;

  constructor(directory: string, ...names: string[]) {
    const name = createHash("sha256").update(names.join("\n")).digest("hex").slice(0, 16);
    this.file = join(directory, `place-${name}.json`);
    const saved = readIfExists(this.file);
    if (!saved) return;
    this.savedAt = statSync(this.file).mtime;
    try {
      const { cursor, done, attempts } = JSON.parse(saved);
      this.#cursor = cursor;
      this.#done = new Set(done);
      this.#attempts = new Map(Object.entries(attempts ?? {}));
    } catch {
      throw new LocalError(`The file ${this.file} is damaged. Delete it to begin with new events.`);
    }
  }

  /**
   * Refuses a second `listen` with the same place. Each process writes a file of its own and then looks for others,
   * so of two that start at once at least one sees the other. It waits a moment, because the former one may be ending.
   */
  async lock(): Promise<void> {
    const own = `${this.file}.${process.pid}.lock`;
    writeFileSync(own, "", { mode: 0o600 });
    process.once("exit", () => rmSync(own, { force: true }));
    const until = Date.now() + LOCK_WAIT_MS;
    for (let other = this.#other(); other !== undefined; other = this.#other()) {
      if (Date.now() >= until) {
        throw new LocalError(`Another listen forwards the same events (${other}). Stop it first.`);
      }
      await sleep(LOCK_PAUSE_MS);
    }
  }

  /** Another process that reads from the same position. Removes the files of ended processes. */
  #other(): string | undefined {
    const prefix = `${basename(this.file)}.`;
    for (const name of readdirSync(dirname(this.file))) {
      const pid = name.startsWith(prefix) ? /^(\d+)\.lock$/.exec(name.slice(prefix.length))?.[1] : undefined;
      if (!pid || Number(pid) === process.pid) continue;
      const path = join(dirname(this.file), name);
      if (isListening(Number(pid))) return `process ${pid}, ${path}`;
      rmSync(path, { force: true });
    }
    return undefined;
  }

  forget(): void {
    this.#cursor = null;
    this.#done.clear();
    this.#attempts.clear();
  }

  get cursor(): string | null {
    return this.#cursor;
  }

  attemptsOf(id: string): number {
    return this.#attempts.get(id) ?? 0;
  }

  /** The event's attempt failed, and another one follows. */
  failed(id: string, attempt: number): void {
    this.#attempts.set(id, attempt);
    this.#write();
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
    this.#attempts.delete(id);
    this.#advance();
    this.#room?.();
  }

  #advance(): void {
    for (let first = this.#window[0]; first?.settled; first = this.#window[0]) {
      this.#cursor = first.cursor;
      this.#done.delete(first.cursor);
      this.#window.shift();
    }
    this.#write();
  }

  #write(): void {
    const fresh = `${this.file}.${process.pid}`;
    // Flushed, so that a crash of the machine leaves the former or the new place.
    const attempts = Object.fromEntries(this.#attempts);
    const place = { cursor: this.#cursor, done: [...this.#done], attempts };
    writeFileSync(fresh, JSON.stringify(place), { mode: 0o600, flush: true });
    renameSync(fresh, this.file);
  }
}

/** A killed process may not have been collected yet, and another program may have got its id. */
function isListening(pid: number): boolean {
  const commandLine = readIfExists(`/proc/${pid}/cmdline`);
  if (commandLine !== undefined) return commandLine.includes("listen");
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
    // ESRCH: the process ended while its file was read.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
