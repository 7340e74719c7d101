module.exports = ({ vars }) => `Sell ${vars.thing}`;
