// The persons whose data the page shows. All tabs share the cookies, and another tab may have switched to another business or
// account: each call names the person, and the server refuses it if the cookie belongs to another one.

const pageUsers: { portal: string | null; console: string | null } = { portal: null, console: null };

export function setPageUser(of: "portal" | "console", id: string | null): void {
  pageUsers[of] = id;
}

export function namePageUser(request: Request): void {
  const isOfConsole = new URL(request.url).pathname.startsWith("/v1/operator/");
  const user = isOfConsole ? pageUsers.console : pageUsers.portal;
  if (user) request.headers.set("Expected-User", user);
}
