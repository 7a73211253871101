//! Handwritten SQL that is prepared once per connection. Diesel's `sql_query` and `sql` are parsed and planned at each
//! call, because their text may vary. The text of a [`Statement`] is `'static`, so it can be prepared.

use std::marker::PhantomData;

use diesel::expression::{ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Array, Bool, HasSqlType, SingleValue, Text, Untyped};
use diesel::{AppearsOnTable, Expression, QueryResult, RunQueryDsl, SelectableExpression};

/// A whole statement. Its rows derive `QueryableByName`.
#[must_use = "statements run when they are executed or loaded"]
pub struct Statement<'a> {
    sql: &'static str,
    binds: Vec<Box<dyn QueryFragment<Pg> + Send + 'a>>,
}

/// A statement with the placeholders `$1`, `$2`, …; bind the values in this order. Pass a list as one array, so that one
/// statement serves lists of any length.
pub fn statement<'a>(sql: &'static str) -> Statement<'a> {
    Statement { sql, binds: Vec::new() }
}

impl<'a> Statement<'a> {
    /// Binds the value of the next placeholder.
    pub fn bind<Type, Value>(mut self, value: Value) -> Self
    where
        Pg: HasSqlType<Type>,
        Type: Send + 'a,
        Value: ToSql<Type, Pg> + Send + 'a,
    {
        self.binds.push(Box::new(Bind { value, as_type: PhantomData::<Type> }));
        self
    }
}

impl QueryFragment<Pg> for Statement<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(self.sql);
        self.binds.iter().try_for_each(|bind| bind.walk_ast(out.reborrow()))
    }
}

/// Identified by its text.
impl QueryId for Statement<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Statement<'_> {
    type SqlType = Untyped;
}

impl<Conn> RunQueryDsl<Conn> for Statement<'_> {}

struct Bind<Type, Value> {
    value: Value,
    as_type: PhantomData<Type>,
}

impl<Type, Value> QueryFragment<Pg> for Bind<Type, Value>
where
    Pg: HasSqlType<Type>,
    Value: ToSql<Type, Pg>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_bind_param_value_only(&self.value)
    }
}

/// A literal piece of SQL in an expression.
#[derive(Clone, Copy, Debug)]
pub struct Literal<Type> {
    sql: &'static str,
    of_type: PhantomData<Type>,
}

/// For the condition of a partial index, which must be literal: the planner cannot match a parameter of a generic plan with
/// the index.
pub fn literal<Type>(sql: &'static str) -> Literal<Type> {
    Literal { sql, of_type: PhantomData }
}

impl<Type: SingleValue> Expression for Literal<Type> {
    type SqlType = Type;
}

impl<Type> QueryFragment<Pg> for Literal<Type> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(self.sql);
        Ok(())
    }
}

impl<Type> QueryId for Literal<Type> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Source, Type: SingleValue> AppearsOnTable<Source> for Literal<Type> {}

impl<Source, Type: SingleValue> SelectableExpression<Source> for Literal<Type> {}

impl<Type, Grouping> ValidGrouping<Grouping> for Literal<Type> {
    type IsAggregate = is_aggregate::Never;
}

/// The condition that two columns equal one of several pairs.
#[derive(Clone, Debug)]
pub struct OneOf {
    columns: &'static str,
    pairs: (Vec<String>, Vec<String>),
}

/// Finds rows by their whole keys: `one_of("(orders.id, orders.business_id)", …)`. With a list per column, the planner
/// would look up every combination, or all rows of a business.
pub fn one_of(columns: &'static str, pairs: impl IntoIterator<Item = (String, String)>) -> OneOf {
    OneOf { columns, pairs: pairs.into_iter().unzip() }
}

impl Expression for OneOf {
    type SqlType = Bool;
}

impl QueryFragment<Pg> for OneOf {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(self.columns);
        out.push_sql(" IN (SELECT * FROM unnest(");
        out.push_bind_param::<Array<Text>, _>(&self.pairs.0)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.pairs.1)?;
        out.push_sql("))");
        Ok(())
    }
}

impl QueryId for OneOf {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Source> AppearsOnTable<Source> for OneOf {}

impl<Source> SelectableExpression<Source> for OneOf {}

impl<Grouping> ValidGrouping<Grouping> for OneOf {
    type IsAggregate = is_aggregate::Never;
}
