/** `growth_plus` as `Growth plus`: plans are the operator's, and named for settings. */
export function planName(plan: string): string {
  const words = plan.replace(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
