// The user whose data the page shows. All tabs share the cookie, and another tab may have switched to another business or account:
// each call names the user, and the server refuses it if the cookie belongs to another one.

let pageUser: string | null = null;

export function setPageUser(userId: string | null): void {
  pageUser = userId;
}

export function namePageUser(request: Request): void {
  if (pageUser) request.headers.set("Expected-User", pageUser);
}
