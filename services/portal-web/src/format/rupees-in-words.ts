const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const UNITS: [number, string][] = [
  [10_000_000, "crore"],
  [100_000, "lakh"],
  [1_000, "thousand"],
  [100, "hundred"],
];

/** `12_345_650` paise as “one lakh twenty-three thousand four hundred fifty-six rupees and fifty paise”. */
export function rupeesInWords(paise: number): string {
  const rupees = Math.floor(paise / 100);
  const rest = paise % 100;
  const whole = `${inWords(rupees)} ${rupees === 1 ? "rupee" : "rupees"}`;
  return rest === 0 ? whole : `${whole} and ${inWords(rest)} paise`;
}

function inWords(number: number): string {
  const unit = UNITS.find(([size]) => number >= size);
  if (unit) {
    const [size, name] = unit;
    const rest = number % size;
    const head = `${inWords(Math.floor(number / size))} ${name}`;
    return rest === 0 ? head : `${head} ${inWords(rest)}`;
  }
  if (number < 20) return ONES[number] ?? "";
  const ten = TENS[Math.floor(number / 10) - 2] ?? "";
  return number % 10 === 0 ? ten : `${ten}-${ONES[number % 10]}`;
}
