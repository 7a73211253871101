// Checks before a form is sent. The server enforces the same lengths.

export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 200;

export function emailError(email: string): string | null {
  return email.trim() === "" ? "Enter your e-mail address." : anyEmailError(email);
}

/** Of another person. */
export function anyEmailError(email: string): string | null {
  if (email.trim() === "") return "Enter an e-mail address.";
  return /^\S+@\S+$/.test(email.trim()) ? null : "Enter an e-mail address, such as you@shop.example.";
}

export function newPasswordError(password: string): string | null {
  const length = [...password].length;
  if (length === 0) return "Choose a password.";
  if (length < PASSWORD_MIN) return `Use at least ${PASSWORD_MIN} characters.`;
  return length > PASSWORD_MAX ? `Use at most ${PASSWORD_MAX} characters.` : null;
}
