// Downloads files that need a session, and perhaps a recent authentication.
import { ApiFailure } from "./failure";
import { namePageUser } from "./page-user";
import { confirmIdentity, isConfirmationNeeded } from "./recent-authentication";
import { withPresentCookie } from "./replaced-cookie";
import { errorBody } from "./send";

/** Saves the file of a `GET` call. Has no timeout, because files may be long. Without a confirmation, nothing is saved. */
export async function download(path: string): Promise<void> {
  let response = await read(path);
  if (await isConfirmationNeeded(response)) {
    if (!(await confirmIdentity(response.url))) return;
    response = await read(path);
  }
  if (!response.ok) throw new ApiFailure(response.status, errorBody(await response.json().catch(() => null)));
  save(await response.blob().catch(unreachable), nameOf(response));
}

function read(path: string): Promise<Response> {
  const request = new Request(path, { credentials: "same-origin", cache: "no-store" });
  namePageUser(request);
  return withPresentCookie(request, (request) => fetch(request).catch(unreachable));
}

/** The server names the file: with the business and the days. */
function nameOf(response: Response): string {
  const disposition = response.headers.get("Content-Disposition") ?? "";
  return /filename="([^"]+)"/.exec(disposition)?.[1] ?? "export";
}

/** A truncated file counts as no response. */
function unreachable(): never {
  throw new ApiFailure(0, {});
}

function save(file: Blob, name: string) {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the file when the event has been handled.
  setTimeout(() => URL.revokeObjectURL(url));
}
