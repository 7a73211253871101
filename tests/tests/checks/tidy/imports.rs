//! Reads which file of a crate imports which other file. A re-exported name leads to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use super::sources;

/// The files of one crate's `src` and their imports, by path within `src`.
pub(crate) struct Imports {
    pub(crate) of: BTreeMap<String, BTreeSet<String>>,
}

type Path = Vec<String>;

#[derive(Default)]
struct Module {
    file: String,
    /// Absolute paths that the file uses, without `crate`.
    uses: Vec<Path>,
    /// Re-exported names and their origins.
    reexports: BTreeMap<String, Path>,
}

/// Every crate of the workspace that has a `src` folder, by its path from the root.
pub(crate) fn of_all_crates() -> BTreeMap<String, Imports> {
    let mut crates: BTreeMap<String, BTreeMap<Path, Module>> = BTreeMap::new();
    for (path, text) in sources(&["rs"]) {
        let Some((home, file)) = path.split_once("/src/") else { continue };
        let module = module_path(file);
        let module_of = Module::read(file, &module, &text);
        crates.entry(home.to_owned()).or_default().insert(module, module_of);
    }
    crates.into_iter().map(|(home, modules)| (home, Imports::resolve(&modules))).collect()
}

fn module_path(file: &str) -> Path {
    let file = file.trim_end_matches(".rs");
    let mut path: Path = file.split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

impl Module {
    fn read(file: &str, module: &[String], text: &str) -> Self {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut reader =
            Reader { module: module.to_vec(), read: Self { file: file.to_owned(), ..Self::default() } };
        reader.visit_file(&parsed);
        reader.read
    }
}

struct Reader {
    module: Path,
    read: Module,
}

impl Reader {
    /// The path from the crate's root; `None` for names of other crates.
    fn absolute(&self, path: &[String]) -> Option<Path> {
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([&self.module, &path[1..]].concat()),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                let stem = self.module.get(..self.module.len().checked_sub(up)?)?;
                Some([stem, &path[up..]].concat())
            }
            _ => None,
        }
    }

    fn take_use(&mut self, tree: &UseTree, before: &[String], is_public: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.take_use(&path.tree, &with(&path.ident), is_public),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.take_use(tree, before, is_public))
            }
            UseTree::Name(name) if name.ident == "self" => self.take_name(before, before.last(), is_public),
            UseTree::Name(name) => {
                self.take_name(&with(&name.ident), Some(&name.ident.to_string()), is_public)
            }
            UseTree::Rename(rename) => {
                self.take_name(&with(&rename.ident), Some(&rename.rename.to_string()), is_public);
            }
            UseTree::Glob(_) => self.take_name(before, None, is_public),
        }
    }

    fn take_name(&mut self, path: &[String], name: Option<&String>, is_public: bool) {
        if let Some(absolute) = self.absolute(path) {
            self.read.uses.push(absolute);
        } else if is_public && path.len() > 1 {
            // `pub use child::Name`, without `self::`.
            let relative = [&self.module, path].concat();
            self.read.reexports.extend(name.map(|name| (name.clone(), relative)));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.take_use(&item.tree, &[], is_public);
    }

    /// `pub(super)` is no import.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.read.uses.extend(self.absolute(&parts));
        visit::visit_path(self, path);
    }
}

impl Imports {
    fn resolve(modules: &BTreeMap<Path, Module>) -> Self {
        let of = modules.values().map(|module| {
            let targets = module.uses.iter().filter_map(|path| target(modules, path, 0));
            let targets = targets.filter(|file| *file != module.file).map(str::to_owned);
            (module.file.clone(), targets.collect())
        });
        Self { of: of.collect() }
    }

    /// Groups of at least two nodes that reach each other. `of` names the node of a file.
    pub(crate) fn circles(&self, node_of: impl Fn(&str) -> String) -> Vec<BTreeSet<String>> {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (file, imports) in &self.of {
            let from = node_of(file);
            let to = imports.iter().map(|file| node_of(file)).filter(|node| *node != from);
            graph.entry(from.clone()).or_default().extend(to);
        }
        let reach: BTreeMap<&String, BTreeSet<&String>> =
            graph.keys().map(|node| (node, reachable(&graph, node))).collect();
        let mut circles: BTreeSet<BTreeSet<String>> = BTreeSet::new();
        for node in graph.keys().filter(|node| reach[node].contains(node)) {
            let both =
                reach[node].iter().filter(|other| reach.get(**other).is_some_and(|back| back.contains(node)));
            circles.insert(both.map(|node| (*node).clone()).collect());
        }
        circles.into_iter().collect()
    }
}

fn reachable<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a String) -> BTreeSet<&'a String> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(node) = next.pop() {
        for to in graph.get(node).into_iter().flatten() {
            if seen.insert(to) {
                next.push(to);
            }
        }
    }
    seen
}

/// The file that defines the path's name: the longest module in it, or the origin of a re-export.
fn target<'a>(modules: &'a BTreeMap<Path, Module>, path: &[String], depth: usize) -> Option<&'a str> {
    let (module, rest) = (0..=path.len())
        .rev()
        .find_map(|length| modules.get(&path[..length]).map(|module| (module, &path[length..])))?;
    let origin = rest.first().and_then(|name| module.reexports.get(name));
    match origin {
        Some(origin) if depth < 8 => target(modules, &[origin, &rest[1..]].concat(), depth + 1),
        _ => Some(&module.file),
    }
}
