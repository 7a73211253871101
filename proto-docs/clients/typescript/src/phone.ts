/** Phone numbers as shops in India store them. */

/**
 * The number with its country code, `+919800000001`: ten digits of an Indian mobile number, with or without 0 or 91 in
 * front, get +91. Other texts stay as they are, and the service refuses them if they are no number.
 */
export function indianPhone(text: string): string {
  const digits = text.replace(/[\s().-]/g, "");
  const mobile = /^(?:0091|91|0)?([6-9]\d{9})$/.exec(digits)?.[1];
  return mobile === undefined ? text : `+91${mobile}`;
}
