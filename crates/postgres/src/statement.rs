//! SQL by hand that is prepared once per connection. Diesel's own `sql_query` and `sql` are parsed and planned anew each
//! time, since it cannot know whether their text is always the same; ours is `'static`, so it is.

use std::marker::PhantomData;

use diesel::expression::{ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Array, Bool, HasSqlType, SingleValue, Text, Untyped};
use diesel::{AppearsOnTable, Expression, QueryResult, RunQueryDsl, SelectableExpression};

/// A whole statement. Its rows are read by name, into what derives `QueryableByName`.
#[must_use = "statements run when they are executed or loaded"]
pub struct Statement<'a> {
    sql: &'static str,
    binds: Vec<Box<dyn QueryFragment<Pg> + Send + 'a>>,
}

/// A statement with the placeholders `$1`, `$2`, …; the values follow in that order. Lists travel as one array each, so
/// that one statement serves lists of any length.
pub fn statement<'a>(sql: &'static str) -> Statement<'a> {
    Statement { sql, binds: Vec::new() }
}

impl<'a> Statement<'a> {
    /// The value of the next placeholder.
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

/// Known by its text.
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

/// A piece of an expression, written out.
#[derive(Clone, Copy, Debug)]
pub struct Literal<Type> {
    sql: &'static str,
    of_type: PhantomData<Type>,
}

/// For what must stand in a query as text: the condition of a partial index, which a parameter would hide from a plan
/// that is kept.
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

/// That two columns are one of some pairs.
#[derive(Clone, Debug)]
pub struct OneOf {
    columns: &'static str,
    pairs: (Vec<String>, Vec<String>),
}

/// For rows by their whole keys, `one_of("(orders.id, orders.business_id)", …)`: two lists, each asked of its own column, would
/// have the planner look for every pair that they make, or for all that is of one of the businesses.
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
