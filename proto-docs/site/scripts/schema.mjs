// Tables of the OpenAPI document's schemas: one row per field, with the dotted path that errors use.

/** Deeper than all schemas. Ends the recursion of a schema that contains itself. */
const DEPTH_MAX = 6;
/** Beyond this number of forms, each form shows only the fields that the previous ones lack. */
const FORMS_IN_FULL = 3;

/** `apart`: names of schemas that have a page of their own, so that other pages do not repeat their fields. */
export function fieldTables(document, apart = []) {
  const resolve = (schema) =>
    schema?.$ref
      ? schema.$ref
          .slice(2)
          .split("/")
          .reduce((at, name) => at[name], document)
      : (schema ?? {});

  /** The non-null form of a nullable schema. */
  const notNull = (schema) =>
    schema.oneOf?.length === 2 && schema.oneOf[1].type === "null" ? resolve(schema.oneOf[0]) : schema;

  /** The type, in a word or two. */
  function kind(schema) {
    const whole = resolve(schema);
    const resolved = notNull(whole);
    const implied = resolved.oneOf ? "object" : resolved.anyOf ? "string" : [];
    const named = [resolved.type ?? implied].flat();
    const plain = named.filter((name) => name !== "null");
    const format = resolved.format === "int64" ? undefined : resolved.format;
    const text =
      plain.join() === "array" ? "list" : plain.join() === "string" && format ? format : plain.join(" or ");
    return named.includes("null") || whole !== resolved ? `${text} or null` : text;
  }

  /** The allowed values in few words, without patterns. */
  function bounds(schema) {
    const listed = schema.items ? notNull(resolve(schema.items)) : schema;
    const open = listed.anyOf?.[0].enum;
    const words = (listed.enum ?? open)?.filter((word) => word !== null).map((word) => `\`${word}\``);
    const { minimum, maximum } = schema;
    const isBounded = minimum !== undefined || maximum !== undefined;
    const range =
      minimum === undefined
        ? `at most ${maximum}`
        : maximum === undefined
          ? `at least ${minimum}`
          : `${minimum} to ${maximum}`;
    return [
      words?.join(" "),
      open && "more may be added",
      isBounded && range,
      schema.maxLength && `at most ${schema.maxLength} characters`,
      schema.maxItems && `at most ${schema.maxItems} entries`,
      schema.default !== undefined && `${schema.default} when left out`,
    ]
      .filter(Boolean)
      .join("; ");
  }

  function row(name, field, required) {
    const resolved = notNull(resolve(field));
    const own = field.description ?? field.oneOf?.[0].description;
    return {
      name,
      kind: kind(field),
      required,
      description: own ?? resolved.description,
      bounds: bounds(resolved),
    };
  }

  function addFields(schema, path, depth, rows) {
    const whole = notNull(resolve(schema));
    if (depth > DEPTH_MAX || apart.includes(schema.$ref?.split("/").at(-1))) return;
    for (const [name, field] of Object.entries(whole.properties ?? {})) {
      const inner = path ? `${path}.${name}` : name;
      rows.push(row(inner, field, whole.required?.includes(name)));
      addFields(field, inner, depth + 1, rows);
    }
    if (whole.items) addFields(whole.items, `${path}[]`, depth + 1, rows);
    const shown = new Set();
    for (const form of (whole.oneOf ?? []).map(resolve)) {
      const own = [];
      addFields(form, path, depth + 1, own);
      const added = own.filter(
        (one) => whole.oneOf.length <= FORMS_IN_FULL || !shown.has(JSON.stringify(one)),
      );
      for (const one of own) shown.add(JSON.stringify(one));
      rows.push({ form: form.description }, ...added);
    }
  }

  /** The fields of a body. */
  const rows = (schema) => {
    const found = [];
    addFields(schema, "", 0, found);
    return found;
  };
  const parameter = (described) => ({
    ...row(described.name, described.schema, described.required),
    description: described.description ?? resolve(described.schema).description,
    place: described.in,
  });
  return { resolve, rows, parameter };
}

const oneLine = (text = "") => text.replaceAll("\n", " ");

/** Rows as a list that stays readable on a phone. */
export function asList(rows) {
  return rows
    .map((row) => {
      if ("form" in row) return `\n**${oneLine(row.form)}**\n`;
      const kind = [row.kind, row.place].filter(Boolean).join(" · ");
      const head = `- \`${row.name}\` <span class="kind">${kind}</span>${row.required ? ' <span class="must">required</span>' : ""}`;
      const text = [oneLine(row.description), row.bounds && `<span class="bounds">${row.bounds}</span>`];
      return [head, ...text.filter(Boolean).map((line) => `  <br>${line}`)].join("\n");
    })
    .join("\n");
}
