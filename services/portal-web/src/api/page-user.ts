// The persons whose data the page shows. All tabs share the cookies, and another tab may have switched to another business or
// account: each call names the person, and the server refuses it if the cookie belongs to another one.

const pageUsers: { portal: string | null; console: string | null } = { portal: null, console: null };

export function setPageUser(of: "portal" | "console", id: string | null): void {
  pageUsers[of] = id;
}

/** The person whose data the page shows in the part that the call belongs to. */
export function pageUserOf(request: Request): string | null {
  const isOfConsole = new URL(request.url).pathname.startsWith("/v1/operator/");
  return isOfConsole ? pageUsers.console : pageUsers.portal;
}

export function namePageUser(request: Request): void {
  const user = pageUserOf(request);
  if (user) request.headers.set("Expected-User", user);
}
